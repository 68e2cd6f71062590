// Tables that sort: the heads become buttons. Without scripts they stay plain heads, in the order of the package.

import { make } from "./dom.mjs";

const chosen = new WeakMap(); // box -> the column it is sorted by and the direction, which outlive a new answer
const printed = new WeakMap(); // table -> its lines in the order of the package

/** @param {HTMLElement} box a .ga-table; its table may have been replaced since the last call */
export function enableSorting(box) {
  const table = box.querySelector("table");
  const body = table?.tBodies[0];
  if (!body || body.rows.length < 2) return;
  const asPrinted = [...body.rows];
  printed.set(table, asPrinted);
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = make("button", "ga-sort", head.textContent);
    button.type = "button";
    button.addEventListener("click", () => {
      chosen.set(box, next(chosen.get(box), column, isFigure(asPrinted[0].cells[column])));
      arrange(table, chosen.get(box));
    });
    head.replaceChildren(button);
  }
  sortAgain(box);
}

/** The lines of a table in the order of the package, however it is sorted. */
export function linesOf(table) {
  return printed.get(table) ?? [...table.tBodies[0].rows];
}

/** Put the lines where they belong, after their cells have changed or the table is new. */
export function sortAgain(box) {
  const how = chosen.get(box);
  if (how) arrange(box.querySelector("table"), how);
}

/** Figures begin with the largest, words with the first; a third press brings the printed order back. */
function next(now, column, figures) {
  const [first, second] = figures ? ["descending", "ascending"] : ["ascending", "descending"];
  if (now?.column !== column) return { column, direction: first };
  return now.direction === first ? { column, direction: second } : undefined;
}

function arrange(table, how) {
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    if (column === how?.column) head.setAttribute("aria-sort", how.direction);
    else head.removeAttribute("aria-sort");
  }
  const lines = linesOf(table);
  table.tBodies[0].replaceChildren(...(how ? lines.toSorted((one, other) => compare(one.cells[how.column], other.cells[how.column], how.direction)) : lines));
}

const isFigure = (cell) => "order" in cell.dataset;

function compare(one, other, direction) {
  const difference = isFigure(one) ? Number(one.dataset.order) - Number(other.dataset.order) : one.textContent.localeCompare(other.textContent);
  return direction === "ascending" ? difference : -difference;
}
