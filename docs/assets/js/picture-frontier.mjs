// Plans as points: relative time to the right, peak memory upwards, the budget as a line between what fits and what does not.

import { HALO, isolated, wrapped } from "./picture-parts.mjs";

const HEIGHT = 250; // Of the field of points.
const TOP = 34; // The budget's name stands there.
const LEFT = 46;
const SIDE = 14;
const LINE = 17;
const LEGEND = 24;
const SIZE = 13; // Of the type.
const LIMIT_HALO = { ...HALO, fill: undefined };
const SYMBOLS = ["circle", "square", "triangle", "diamond"];

/** Points of one combination of switches share a mark and a line; what lies above the budget is hollow. */
export function frontier({ Plot, document, data, width, direction }) {
  const { points, series, limit } = data;
  const rtl = direction === "rtl";
  const floor = TOP + HEIGHT;
  const times = points.map(({ time }) => time);
  const room = (Math.max(...times) - Math.min(...times) || 0.1) * 0.08;
  const time = { domain: [Math.min(...times) - room, Math.max(...times) + room], range: [LEFT, width - SIDE] };
  const value = { domain: [0, Math.max(...points.map(({ value }) => value), limit.value) * 1.08], range: [floor, TOP] };
  const notes = wrapped(data.time_axis, width, SIZE).map((line, row) => ({ line, row }));
  const below = floor + 34 + notes.length * LINE;
  const legend = series.flatMap((name, place) => wrapped(name, width - 2 * SIDE - 22, SIZE).map((line, row) => ({ line, row, place })))
    .map((entry, index) => ({ ...entry, at: below + 16 + index * LEGEND }));
  const height = legend.at(-1).at + LEGEND;
  const pixels = { x: { type: "identity", axis: null }, y: { type: "identity", axis: null } };
  const x = (point) => scaled(point.time, time);
  const y = (point) => scaled(point.value, value);
  const texts = apart(points.map((point) => ({ ...point, x: x(point), y: y(point) - 13 })));
  const ticks = levels(value.domain[1]);
  const anchor = { x: rtl ? width - SIDE : SIDE, textAnchor: rtl ? "end" : "start" };

  return Plot.plot({
    document,
    className: "ga-plot",
    width,
    height,
    margin: 0,
    ...pixels,
    marks: [
      Plot.text(ticks, { x: LEFT - 8, y: (tick) => scaled(tick, value), textAnchor: "end", text: (tick) => String(tick), className: "ga-text ga-small" }),
      Plot.ruleX([LEFT], { y1: TOP, y2: floor, className: "ga-base" }),
      Plot.ruleY([floor], { x1: LEFT, x2: width - SIDE, className: "ga-base" }),
      Plot.ruleY([scaled(limit.value, value)], { x1: LEFT, x2: width - SIDE, className: "ga-limit" }),
      Plot.text([data.axis], { x: SIDE, y: 12, textAnchor: "start", text: (words) => isolated(words, direction), className: "ga-text ga-axis-label" }),
      Plot.text([limit], { x: width - SIDE, y: scaled(limit.value, value) - 12, textAnchor: "end", text: ({ label, text }) => `${isolated(label)} \u00b7 ${isolated(text, "ltr")}`, className: "ga-text ga-limit-text", ...LIMIT_HALO }),
      ...marks(Plot, points, { x, y }),
      Plot.text(texts, { x: "x", y: "y", text: ({ name }) => isolated(name, "ltr"), className: "ga-text ga-small", ...HALO }),
      Plot.text(steps(time.domain), { x: (step) => scaled(step, time), y: floor + 16, text: (step) => step.toFixed(2), className: "ga-text ga-small" }),
      Plot.text(notes, { x: width / 2, y: ({ row }) => floor + 38 + row * LINE, text: ({ line }) => isolated(line, direction), className: "ga-text ga-axis-label" }),
      ...series.map((_, place) => Plot.dot(legend.filter((entry) => entry.place === place && entry.row === 0), {
        x: anchor.x + (rtl ? -7 : 7), y: "at", symbol: SYMBOLS[place], r: 6, className: `ga-point ga-series-${place}`,
      })),
      Plot.text(legend, { ...anchor, x: anchor.x + (rtl ? -22 : 22), y: "at", text: ({ line }) => isolated(line, direction), className: "ga-text ga-small" }),
    ],
  });
}

function marks(Plot, points, { x, y }) {
  const places = [...new Set(points.map(({ series }) => series))];
  return places.flatMap((place) => {
    const own = points.filter(({ series }) => series === place).sort((one, other) => one.time - other.time);
    const mark = { x, y, symbol: SYMBOLS[place], r: 6, title: ({ text }) => text };
    return [
      Plot.line(own, { x, y, className: `ga-path ga-series-${place}` }),
      Plot.dot(own.filter(({ fits }) => fits), { ...mark, className: `ga-point ga-series-${place}` }),
      Plot.dot(own.filter(({ fits }) => !fits), { ...mark, className: `ga-point ga-hollow ga-series-${place}` }),
    ];
  });
}

const scaled = (number, { domain: [low, high], range: [from, to] }) => from + ((number - low) / (high - low)) * (to - from);

/** Round levels of an axis that begins at zero. */
function levels(largest) {
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
  return Array.from({ length: Math.floor(largest / step) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

const steps = ([low, high]) => Array.from({ length: 4 }, (_, index) => low + ((index + 0.5) / 4) * (high - low));

/** Names that would lie on one another: only the first of them is written. */
function apart(texts) {
  const kept = [];
  for (const text of texts) {
    const near = kept.some((other) => Math.abs(other.x - text.x) < 44 && Math.abs(other.y - text.y) < 16);
    if (!near) kept.push(text);
  }
  return kept;
}
