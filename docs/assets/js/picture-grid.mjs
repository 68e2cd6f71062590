// Axes for drawings that stand in pixels.

import { isolated } from "./picture-parts.mjs";

/** Round numbers between two ends, about `count` of them. */
export function ticks(least, most, count) {
  const rough = (most - least || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const first = Math.ceil(least / step - 1e-9);
  const last = Math.floor(most / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

export function written(value) {
  const size = Math.abs(value);
  return size && (size < 1e-4 || size >= 1e7) ? value.toExponential().replace("e+", "e") : value.toLocaleString("en", { maximumSignificantDigits: 6 });
}

/** The axis under a drawing: ticks, their numbers, its name in the middle. Marks, for Plot. */
export function figure(Plot, values, { at, y, name, width, direction }) {
  return [
    Plot.ruleX(values, { x: at, y1: y, y2: y + 5, className: "ga-base" }),
    Plot.text(values, { x: (value) => inside(at(value), width), y: y + 15, text: (value) => isolated(written(value), "ltr"), className: "ga-text ga-small" }),
    Plot.text([name], { x: width / 2, y: y + 36, text: (words) => isolated(words, direction), className: "ga-text ga-axis-label" }),
  ];
}

/** A number at the edge stays within the drawing. */
function inside(x, width) {
  return Math.min(Math.max(x, 14), width - 14);
}

/** The axis at the left: numbers at the end of faint lines across the drawing. */
export function levels(Plot, values, { at, x1, x2 }) {
  return [
    Plot.ruleY(values, { y: at, x1, x2, className: "ga-phase" }),
    Plot.text(values, { y: at, x: x1 - 6, textAnchor: "end", text: (value) => isolated(written(value), "ltr"), className: "ga-text ga-small" }),
  ];
}

const CLASSES = { right: "ga-right", wrong: "ga-wrong", plain: "ga-plain" };
// The right way is a whole line; several wrong ones are told apart by their dashes.
const DASHES = ["8 4", "2 4", "12 3 2 3", "5 2"];

/** Each series with the class of its role, and with dashes of its own where it is wrong. */
export function styled(series) {
  let wrong = 0;
  return series.map((one) => ({ ...one, className: `${CLASSES[one.role]} ga-curve`, dash: one.role === "wrong" ? DASHES[wrong++ % DASHES.length] : null }));
}

const ROW = 21;
const PIECE = 34;
const SIDE = 8;

/** Beside each name a piece of its line, from the side where the page's text begins; and how high all of that is. */
export function legend(Plot, series, { width, direction }) {
  const rtl = direction === "rtl";
  const [x1, x2] = rtl ? [width - SIDE - PIECE, width - SIDE] : [SIDE, SIDE + PIECE];
  const marks = series.flatMap(({ label, className, dash }, index) => {
    const y = 11 + index * ROW;
    return [
      Plot.line([[x1, y], [x2, y]], { className, strokeDasharray: dash }),
      Plot.text([label], { x: rtl ? x1 - 8 : x2 + 8, y, textAnchor: rtl ? "end" : "start", text: (words) => isolated(words, direction), className: "ga-text" }),
    ];
  });
  return { marks, height: series.length * ROW + 6 };
}
