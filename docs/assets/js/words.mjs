// The page's own words, in its language: every one comes from the package's messages, printed into the page.

const read = new WeakMap(); // the element that holds them -> what it holds; an instant navigation brings another

/** The word, or "" on a page that does not carry it. */
export function word(name) {
  const element = document.getElementById("ga-words");
  if (!element) return "";
  if (!read.has(element)) read.set(element, JSON.parse(element.textContent));
  const words = read.get(element);
  return words[`ui.${name}`] ?? words[name] ?? "";
}
