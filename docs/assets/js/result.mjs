// Put an accepted answer into the page. Every text and number comes formatted from Python's "view".

import { make, unbroken } from "./dom.mjs";
import { fillFiles, newFiles } from "./files.mjs";
import { enableSorting } from "./sorting.mjs";
import { renderFormula, renderSteps } from "./steps.mjs";
import { word } from "./words.mjs";

export function showResult(section, answer) {
  showOutputs(section.querySelector(".ga-result"), answer.view.outputs);
  showNotes(section.querySelector(".ga-notes"), answer.notes);
  renderSteps(section.querySelector(".ga-steps"), answer.steps);
}

function showOutputs(list, outputs) {
  const kept = new Set(outputs.map(({ name }) => name));
  for (const card of [...list.children]) if (!kept.has(card.dataset.output)) card.remove();
  for (const [index, output] of outputs.entries()) {
    const card = list.querySelector(`[data-output="${output.name}"]`) ?? newCard(output);
    if (list.children[index] !== card) list.insertBefore(card, list.children[index] ?? null);
    if (output.table) fillTable(card.querySelector(".ga-table"), output.table);
    else if (output.files) fillFiles(card.querySelector(".ga-files"), output.files);
    else setText(card.querySelector(".ga-value"), output.text);
    setText(card.querySelector(".ga-detail"), unbroken(output.detail));
  }
}

function newCard({ name, label, symbol, primary, table, files }) {
  const card = make("div", ["ga-output", primary && "ga-primary", (table || files) && "ga-list"].filter(Boolean).join(" "));
  card.dataset.output = name;
  const heading = make("span", "ga-label", label);
  if (symbol) {
    const formula = make("span", "arithmatex");
    heading.append(" ", formula);
    renderFormula(formula, symbol);
  }
  card.append(heading, " ", table ? newTable() : files ? newFiles() : newValue(), " ", make("span", "ga-detail"));
  return card;
}

function newValue() {
  const value = make("output", "ga-value");
  value.dir = "ltr";
  quiet(value);
  return value;
}

function newTable() {
  const box = make("div", "ga-table");
  box.tabIndex = 0; // A box that scrolls must be reachable from the keyboard.
  return box;
}

/** An output that is a list: columns and cells come as text from Python. */
function fillTable(box, { columns, keys, rows, numeric, order }) {
  const table = make("table");
  const head = table.createTHead().insertRow();
  for (const column of columns) {
    const cell = make("th", "", column);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const [position, row] of rows.entries()) {
    const line = body.insertRow();
    for (const [index, text] of row.entries()) {
      const cell = line.insertCell();
      cell.textContent = text;
      cell.dir = numeric[index] ? "ltr" : "auto";
      cell.dataset.column = keys[index];
      if (numeric[index]) cell.dataset.order = order[position][index];
    }
  }
  box.replaceChildren(table);
  enableSorting(box);
}

/** An <output> is a live region by itself; several changing at once would talk over the one status line. */
export function quiet(output) {
  output.setAttribute("aria-live", "off");
}

function showNotes(list, notes) {
  list.replaceChildren(
    ...notes.map(({ code, message }) => {
      const note = make("p", "", unbroken(message));
      note.dataset.note = code;
      const pitfall = word(`pitfall.${code}`);
      if (pitfall) note.append(" ", pitfallLink(pitfall));
      return note;
    }),
  );
}

function pitfallLink(page) {
  const base = new URL(document.querySelector('meta[name="ga-base"]').content, document.baseURI);
  const link = make("a", "ga-pitfall", word("about_pitfall"));
  link.href = new URL(`../../${document.documentElement.lang}/learn/pitfalls/${page}/`, base).href;
  return link;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
