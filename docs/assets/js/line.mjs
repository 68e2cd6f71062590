// What the browser says of the reader's line, and the moments when nobody waits for anything.

/** A fast line that the reader does not pay by the byte for; a browser that says nothing of its line does not count. */
export function isFast() {
  const line = navigator.connection;
  return Boolean(line && line.effectiveType === "4g" && line.downlink >= 5 && !line.saveData);
}

/** The reader saves data, or the line is so slow that whatever is fetched unasked stands in the way of what was asked for. */
export function isSparing() {
  const line = navigator.connection;
  return Boolean(line && (line.saveData || /2g$/.test(line.effectiveType)));
}

/** Do it when the page has loaded and the browser has nothing else to do. */
export function whenIdle(task) {
  const idle = () => (globalThis.requestIdleCallback ? requestIdleCallback(task, { timeout: 10_000 }) : setTimeout(task, 1000));
  if (document.readyState === "complete") idle();
  else addEventListener("load", idle, { once: true });
}
