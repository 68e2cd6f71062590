// Tables that sort: the heads become buttons. Without scripts they stay plain heads, in the order of the package.

import { make } from "./dom.mjs";

const chosen = new WeakMap(); // box -> the column it is sorted by and the direction, which outlive a new answer

/** @param {HTMLElement} box a .ga-table; its table may have been replaced since the last call */
export function enableSorting(box) {
  const table = box.querySelector("table");
  const body = table?.tBodies[0];
  if (!body || body.rows.length < 2) return;
  const asPrinted = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const show = () => arrange(body, heads, asPrinted, chosen.get(box));
  for (const [column, head] of heads.entries()) {
    const button = make("button", "ga-sort", head.textContent);
    button.type = "button";
    button.addEventListener("click", () => {
      chosen.set(box, next(chosen.get(box), column, isFigure(asPrinted[0].cells[column])));
      show();
    });
    head.replaceChildren(button);
  }
  show();
}

/** Figures begin with the largest, words with the first; a third press brings the printed order back. */
function next(now, column, figures) {
  const [first, second] = figures ? ["descending", "ascending"] : ["ascending", "descending"];
  if (now?.column !== column) return { column, direction: first };
  return now.direction === first ? { column, direction: second } : undefined;
}

function arrange(body, heads, asPrinted, how) {
  for (const [column, head] of heads.entries()) {
    if (column === how?.column) head.setAttribute("aria-sort", how.direction);
    else head.removeAttribute("aria-sort");
  }
  body.replaceChildren(...(how ? asPrinted.toSorted((one, other) => compare(one.cells[how.column], other.cells[how.column], how.direction)) : asPrinted));
}

const isFigure = (cell) => "order" in cell.dataset;

function compare(one, other, direction) {
  const difference = isFigure(one) ? Number(one.dataset.order) - Number(other.dataset.order) : one.textContent.localeCompare(other.textContent);
  return direction === "ascending" ? difference : -difference;
}
