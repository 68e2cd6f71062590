// Work that may wait until the reader has seen what matters most.

// A page in the background paints nothing, and must go on all the same.
const LONGEST = 100;

/** When what stands in the page by now has been painted: in the turn after the next frame's callbacks. */
export function painted() {
  return new Promise((done) => {
    const late = setTimeout(done, LONGEST);
    requestAnimationFrame(() => {
      clearTimeout(late);
      setTimeout(done);
    });
  });
}

/** When the browser has nothing else to do, or soon. */
export function free() {
  return new Promise((done) => {
    if (globalThis.requestIdleCallback) requestIdleCallback(() => done(), { timeout: LONGEST });
    else setTimeout(done, LONGEST);
  });
}
