// The worked example with the reader's own numbers: formulas as TeX from Python, set by KaTeX with MathML beside them.

import { make, unbroken } from "./dom.mjs";
import { painted } from "./frames.mjs";
import { katex } from "./lazy.mjs";

/**
 * @param {HTMLElement} list
 * @param {{tex: string, text: string}[]} steps
 * @param {() => boolean} isLatest whether no newer answer came
 */
export async function renderSteps(list, steps, isLatest) {
  const { render } = await katex();
  if (!isLatest()) return;
  const lines = [...list.children];
  const changed = steps.map((step, index) => renderStep(lines[index] ?? list.appendChild(newLine()), step, render));
  for (const line of lines.slice(steps.length)) line.remove();
  // Before the paint the question how wide they are would have the whole page laid out once more.
  await painted();
  for (const formula of changed.filter(Boolean)) reachable(formula);
}

function newLine() {
  const line = make("li");
  line.append(make("div"), make("p"));
  return line;
}

/** The formula, if it is another than before: setting one costs as much as all figures of an answer. */
function renderStep(line, { tex, text }, render) {
  const words = line.querySelector("p");
  const saying = unbroken(text);
  if (words.textContent !== saying) words.textContent = saying;
  const before = line.firstElementChild;
  if (line.dataset.tex === tex) return null;
  line.dataset.tex = tex;
  const formula = make("div", "arithmatex arithmatex-live");
  render(tex, formula, { displayMode: true, output: "htmlAndMathml", throwOnError: false });
  before.replaceWith(formula);
  return formula;
}

/** A formula that is wider than the page scrolls, and what scrolls must be reachable by keyboard. */
function reachable(formula) {
  if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
}

export async function renderFormula(element, tex) {
  const { render } = await katex();
  render(tex, element, { output: "htmlAndMathml", throwOnError: false });
}
