// Draws the pictures of an answer as SVG: in Node while the site is built, in the browser as the reader types.
//
// Each picture is drawn twice, once for a wide place and once for a narrow one, and the stylesheet shows the one that fits:
// scaling a single drawing down to a phone would make its text unreadable. Colours are CSS variables, so that a picture
// follows light, dark and forced colours without being drawn again.

import { budget } from "./picture-budget.mjs";
import { capacity } from "./picture-capacity.mjs";
import { drawing } from "./picture-drawing.mjs";
import { frontier } from "./picture-frontier.mjs";
import { phases } from "./picture-phases.mjs";
import { accumulationWindow } from "./picture-window.mjs";

const PICTURES = { budget, capacity, drawing, frontier, phases, window: accumulationWindow };
const WIDTHS = { wide: 640, narrow: 340 };

/** A drawing of its own for each kind of place. */
export const PLACES = Object.keys(WIDTHS);

/**
 * @param {object} Plot Observable Plot
 * @param {Document} document
 * @param {{picture: string, data: object, language: string}} request
 * @param {string} place one of PLACES
 * @returns {SVGSVGElement}
 */
export function draw(Plot, document, { picture, data, language }, place) {
  const direction = language === "ar" ? "rtl" : "ltr";
  const key = `ga-${hash(JSON.stringify([picture, data, language, place]))}`;
  const svg = PICTURES[picture]({ Plot, document, data, width: WIDTHS[place], direction, key });
  return finish(svg, { place, summary: data.summary });
}

function finish(svg, { place, summary }) {
  svg.querySelector("style")?.remove(); // Plot's own rules; calculator.css has ours.
  // Plot names every group after its mark, which would stand beside the name of the whole.
  for (const group of svg.querySelectorAll("g")) group.removeAttribute("aria-label");
  svg.setAttribute("class", `ga-svg ga-${place}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", summary);
  // Text stands where it was put whatever the page's direction; picture-parts.mjs isolates each piece.
  svg.setAttribute("direction", "ltr");
  for (const name of ["width", "height", "font-family", "font-size"]) svg.removeAttribute(name);
  return svg;
}

/** A short name made from the content: patterns need an id, and one page may hold several pictures. */
function hash(text) {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ character.codePointAt(0), 0x01000193);
  return (value >>> 0).toString(36);
}
