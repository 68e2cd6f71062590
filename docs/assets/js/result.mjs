// Put an accepted answer into the page. Every text and number comes formatted from Python's "view".

import { make, quiet, unbroken } from "./dom.mjs";
import { fillFiles, newFiles } from "./files.mjs";
import { enableSorting, linesOf, sortAgain } from "./sorting.mjs";
import { renderFormula } from "./steps.mjs";
import { word } from "./words.mjs";

/** The figures and the notes; tables and files of cards that stood there before are left to `showTables`. */
export function showFigures(section, { view, notes }) {
  showOutputs(section.querySelector(".ga-result"), view.outputs);
  showNotes(section.querySelector(".ga-notes"), notes);
}

/** What takes longer than the figures. */
export function showTables(section, { view }) {
  const list = section.querySelector(".ga-result");
  for (const output of view.outputs) if (output.table || output.files) fill(cardOf(list, output), output);
}

function showOutputs(list, outputs) {
  const kept = new Set(outputs.map(({ name }) => name));
  for (const card of [...list.children]) if (!kept.has(card.dataset.output)) card.remove();
  for (const [index, output] of outputs.entries()) {
    const card = cardOf(list, output) ?? fill(newCard(output), output);
    if (list.children[index] !== card) list.insertBefore(card, list.children[index] ?? null);
    const value = card.querySelector(".ga-value");
    if (value) setText(value, output.text);
    setText(card.querySelector(".ga-detail"), unbroken(output.detail));
  }
}

const cardOf = (list, { name }) => list.querySelector(`[data-output="${name}"]`);

function fill(card, { table, files }) {
  if (table) fillTable(card.querySelector(".ga-table"), table);
  if (files) fillFiles(card.querySelector(".ga-files"), files);
  return card;
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

/** An output that is a list: columns and cells come as text from Python. A table of the same shape keeps its elements. */
function fillTable(box, found) {
  const before = box.querySelector("table");
  if (before && sameShape(before, found)) {
    for (const [position, line] of linesOf(before).entries()) fillLine(line, found, position);
    sortAgain(box);
  } else {
    box.replaceChildren(newRows(found));
    enableSorting(box);
  }
}

function sameShape(table, { columns, keys, rows }) {
  const lines = linesOf(table);
  const heads = [...table.tHead.rows[0].cells];
  const names = [...(lines[0]?.cells ?? [])];
  if (lines.length !== rows.length || heads.length !== columns.length) return false;
  return keys.every((key, index) => names[index]?.dataset.column === key && heads[index].textContent === columns[index]);
}

function newRows(found) {
  const table = make("table");
  const head = table.createTHead().insertRow();
  for (const column of found.columns) {
    const cell = make("th", "", column);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const position of found.rows.keys()) {
    const line = body.insertRow();
    for (const [index, key] of found.keys.entries()) {
      const cell = line.insertCell();
      cell.dir = found.numeric[index] ? "ltr" : "auto";
      cell.dataset.column = key;
    }
    fillLine(line, found, position);
  }
  return table;
}

function fillLine(line, { rows, numeric, order }, position) {
  for (const [index, text] of rows[position].entries()) {
    const cell = line.cells[index];
    setText(cell, text);
    if (numeric[index]) cell.dataset.order = order[position][index];
  }
}

function showNotes(list, notes) {
  const shown = JSON.stringify(notes);
  if (list.dataset.shown === shown) return;
  list.dataset.shown = shown;
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

/** A text that stays one text is changed in its place: replaced nodes are laid out, and seen by all who watch the page, anew. */
function setText(element, text) {
  if (element.textContent === text) return;
  const [node, more] = element.childNodes;
  if (node?.nodeType === Node.TEXT_NODE && !more) node.data = text;
  else element.textContent = text;
}
