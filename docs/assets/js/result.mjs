// Put an accepted answer into the page. Every text and number comes formatted from Python's "view".

import { renderFormula, renderSteps } from "./steps.mjs";

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
    setText(card.querySelector(".ga-value"), output.text);
    setText(card.querySelector(".ga-detail"), output.detail);
  }
}

function newCard({ name, label, symbol, primary }) {
  const card = make("div", primary ? "ga-output ga-primary" : "ga-output");
  card.dataset.output = name;
  const heading = make("span", "ga-label", label);
  if (symbol) {
    const formula = make("span", "arithmatex");
    heading.append(" ", formula);
    renderFormula(formula, symbol);
  }
  const value = make("output", "ga-value");
  value.dir = "ltr";
  quiet(value);
  card.append(heading, " ", value, " ", make("span", "ga-detail"));
  return card;
}

/** An <output> is a live region by itself; several changing at once would talk over the one status line. */
export function quiet(output) {
  output.setAttribute("aria-live", "off");
}

function showNotes(list, notes) {
  list.replaceChildren(
    ...notes.map(({ code, message }) => {
      const note = make("p", "", message);
      note.dataset.note = code;
      return note;
    }),
  );
}

export function make(name, className = "", text = "") {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
