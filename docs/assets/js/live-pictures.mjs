// Redraw the figures that belong to a calculator when it has a new answer.

import { make, unbroken } from "./dom.mjs";
import { free, painted } from "./frames.mjs";
import { plot } from "./lazy.mjs";
import { tableOf } from "./picture-table.mjs";
import { showSegments } from "./stepper.mjs";
import { word } from "./words.mjs";

/**
 * One drawing at a time, so that a key never waits for more than one; first those that this window shows.
 * @param {Object<string, object>} pictures the answer's picture data by name; what is missing has nothing to draw
 * @param {() => boolean} isLatest whether no newer answer came
 */
export async function redraw(section, pictures, isLatest) {
  const { calculator, language } = section.dataset;
  const figures = [...document.querySelectorAll(`.ga-picture[data-live="true"][data-calculator="${calculator}"]`)];
  if (figures.length === 0) return;
  const [Plot, { draw, PLACES }] = await Promise.all([plot(), import("./pictures.mjs")]);
  if (!isLatest()) return;
  const wanted = figures.filter((figure) => describe(figure, pictures[figure.dataset.picture]));
  await painted(); // Where a drawing stands is known then, and before it a question that has the page laid out.
  const places = wanted.flatMap((figure) => PLACES.map((place) => ({ figure, place, shown: isShown(figure, place) })));
  for (const { figure, place, shown } of places.toSorted((one, other) => other.shown - one.shown)) {
    await (shown ? painted() : free());
    if (!isLatest()) return;
    const picture = figure.dataset.picture;
    replace(figure, place, pictures[picture], () => draw(Plot, document, { picture, data: pictures[picture], language }, place));
  }
}

function replace(figure, place, data, drawAnew) {
  const before = drawingOf(figure, place);
  const source = JSON.stringify(data);
  if (drawn.get(before) === source) return;
  const drawing = drawAnew();
  drawn.set(drawing, source);
  before.replaceWith(drawing);
  showSegments(figure);
}

const drawn = new WeakMap(); // drawing -> the data it was made from

/** Only what the reader can see now; the rest is drawn when nobody waits. */
function isShown(figure, place) {
  const { height, top, bottom } = drawingOf(figure, place).getBoundingClientRect();
  return height > 0 && bottom > 0 && top < innerHeight;
}

const drawingOf = (figure, place) => figure.querySelector(`.ga-drawing > .ga-${place}`);

/** The words and figures of the picture, which cost nothing; says whether there is something to draw. */
function describe(figure, data) {
  figure.hidden = !data;
  if (!data) return false;
  const caption = figure.querySelector("figcaption");
  const summary = unbroken(data.summary);
  if (caption.textContent !== summary) caption.textContent = summary;
  const kept = figure.querySelector(".ga-data") ?? figure.appendChild(Object.assign(make("div", "ga-data"), { hidden: true }));
  kept.textContent = JSON.stringify(data);
  if (figure.querySelector(".ga-behind")?.open) fillTable(figure);
  return true;
}

/** A folded table is filled when it is opened: nobody waits for what nobody sees. */
addEventListener("toggle", ({ target }) => {
  if (target.matches?.(".ga-behind[open]")) fillTable(target.closest("figure"));
}, true);

function fillTable(figure) {
  const data = JSON.parse(figure.querySelector(".ga-data").textContent);
  figure.querySelector(".ga-behind > .ga-table").replaceChildren(tableOf(document, data, { total: word("table_total") }));
}
