// The page's own words, in its language: every one comes from the package's messages, printed into the page.

/** The word, or "" on a page that does not carry it. */
export function word(name) {
  const element = document.getElementById("ga-words");
  if (!element) return "";
  const words = JSON.parse(element.textContent);
  return words[`ui.${name}`] ?? words[name] ?? "";
}
