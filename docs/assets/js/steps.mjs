// The worked example with the reader's own numbers: formulas as TeX from Python, set by KaTeX with MathML beside them.

import { unbroken } from "./dom.mjs";
import { katex } from "./lazy.mjs";

export async function renderSteps(list, steps) {
  list.dataset.wanted = JSON.stringify(steps);
  const { render } = await katex();
  if (list.dataset.wanted !== JSON.stringify(steps)) return; // A newer answer came while KaTeX was loading.
  list.replaceChildren(
    ...steps.map(({ tex, text }) => {
      const line = document.createElement("li");
      const formula = document.createElement("div");
      formula.className = "arithmatex arithmatex-live";
      render(tex, formula, { displayMode: true, output: "htmlAndMathml", throwOnError: false });
      const words = document.createElement("p");
      words.textContent = unbroken(text);
      line.append(formula, words);
      return line;
    }),
  );
  for (const formula of list.querySelectorAll(".arithmatex-live")) reachable(formula);
}

/** A formula that is wider than the page scrolls, and what scrolls must be reachable by keyboard. */
function reachable(formula) {
  if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
}

export async function renderFormula(element, tex) {
  const { render } = await katex();
  render(tex, element, { output: "htmlAndMathml", throwOnError: false });
}
