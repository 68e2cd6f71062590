// Elements, made in one line.

/** No line ends between a number and its unit or archive; what is copied comes from the answer, and keeps its plain spaces. */
export function unbroken(text) {
  return text.replace(/(\d) (?=(?:[KMGT]i?)?B\b|%)|(arXiv) (?=\d)/g, "$1$2\u00a0");
}

export function make(name, className = "", text = "") {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/** Done, where it was asked for: the line that says so may stand outside the screen. */
export function tick(button) {
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, 2000);
}

/** An <output> is a live region by itself; several changing at once would talk over the one status line. */
export function quiet(output) {
  output.setAttribute("aria-live", "off");
}
