// Redraw the figures that belong to a calculator when it has a new answer.

import { plot } from "./lazy.mjs";
import { make, unbroken } from "./dom.mjs";
import { tableOf } from "./picture-table.mjs";
import { showSegments } from "./stepper.mjs";
import { word } from "./words.mjs";

const latest = new WeakMap(); // calculator -> the number of its latest redrawing

/** @param {Object<string, object>} pictures the answer's picture data by name; what is missing has nothing to draw */
export async function redraw(section, pictures) {
  const { calculator, language } = section.dataset;
  const figures = document.querySelectorAll(`.ga-picture[data-live="true"][data-calculator="${calculator}"]`);
  if (figures.length === 0) return;
  const mine = (latest.get(section) ?? 0) + 1;
  latest.set(section, mine);
  const [Plot, { draw }] = await Promise.all([plot(), import("./pictures.mjs")]);
  if (mine !== latest.get(section)) return; // A newer answer came while Plot was loading.
  for (const figure of figures) {
    const data = pictures[figure.dataset.picture];
    figure.hidden = !data;
    if (data) replace(figure, data, draw(Plot, document, { picture: figure.dataset.picture, data, language }));
  }
}

function replace(figure, data, drawings) {
  figure.querySelector(".ga-drawing").replaceChildren(...drawings);
  figure.querySelector("figcaption").textContent = unbroken(data.summary);
  const kept = figure.querySelector(".ga-data") ?? figure.appendChild(Object.assign(make("div", "ga-data"), { hidden: true }));
  kept.textContent = JSON.stringify(data);
  showSegments(figure);
  if (figure.querySelector(".ga-behind")?.open) fillTable(figure);
}

/** A folded table is filled when it is opened: nobody waits for what nobody sees. */
addEventListener("toggle", ({ target }) => {
  if (target.matches?.(".ga-behind[open]")) fillTable(target.closest("figure"));
}, true);

function fillTable(figure) {
  const data = JSON.parse(figure.querySelector(".ga-data").textContent);
  figure.querySelector(".ga-behind > .ga-table").replaceChildren(tableOf(document, data, { total: word("table_total") }));
}
