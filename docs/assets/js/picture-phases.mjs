// The phases of a step as stacked columns. Time runs from left to right in both languages.

import { HALO, isolated, partClass, stacked, wrapped } from "./picture-parts.mjs";

const HEIGHT = 190; // Of a column that is as high as anything in the picture.
const LINE = 17;
const LEGEND = 22;
const SWATCH = 12;
const SIDE = 6;
const SIZE = 13; // Of the type.

/** Everything stands in pixels: names, columns and legend share one grid. */
export function phases({ Plot, document, data, width, direction }) {
  const { stacks, limit } = data;
  const rtl = direction === "rtl";
  const floor = (limit ? 46 : 26) + HEIGHT;
  const largest = Math.max(...stacks.map(({ value }) => value), limit?.value ?? 0) || 1;
  const level = (value) => floor - (value / largest) * HEIGHT;
  const place = (width - 2 * SIDE) / stacks.length;
  const columns = stacks.map((stack, index) => {
    const x = SIDE + (index + 0.5) * place;
    return { ...stack, x, x1: x - place * 0.34, x2: x + place * 0.34, y: level(stack.value), lines: wrapped(stack.label, place - 2, SIZE) };
  });
  const parts = columns.flatMap(({ x1, x2, label: phase, parts: own }) => stacked(own).filter(({ value }) => value > 0)
    .map((part) => ({ ...part, phase, x1, x2, y1: level(part.from), y2: level(part.to) })));
  const names = columns.flatMap(({ x, lines }) => lines.map((line, row) => ({ x, y: floor + 6 + (row + 0.5) * LINE, line })));
  const legend = laidOut(stacks[0].parts, { width, rtl, top: Math.max(...names.map(({ y }) => y)) + LINE + 8 });
  const notes = wrapped(data.time_axis, width, SIZE).map((line, row) => ({ line, y: legend.at(-1).y + 28 + row * LINE }));
  const value = { x: "x", y: ({ y }) => y - 10, text: ({ text }) => isolated(text, "ltr"), ...HALO };
  const ids = [...new Set(parts.map(({ id }) => id))];

  return Plot.plot({
    document,
    className: "ga-plot",
    width,
    height: notes.at(-1).y + LINE / 2 + 4,
    margin: 0,
    x: { type: "identity", axis: null },
    y: { type: "identity", axis: null },
    marks: [
      ...ids.map((id) => Plot.rect(parts.filter((part) => part.id === id), { x1: "x1", x2: "x2", y1: "y1", y2: "y2", title: named, className: partClass({ id }) })),
      Plot.ruleY([floor], { className: "ga-base" }),
      limit && Plot.ruleY([level(limit.value)], { className: "ga-limit" }),
      limit && Plot.text([limit], { x: rtl ? width - SIDE : SIDE, y: 12, textAnchor: rtl ? "end" : "start", text: ({ label, text }) => `${isolated(label)} \u00b7 ${isolated(text, "ltr")}`, className: "ga-text ga-limit-text" }),
      Plot.text(columns.filter(({ id }) => id !== data.peak), { ...value, className: "ga-text ga-small" }),
      Plot.text(columns.filter(({ id }) => id === data.peak), { ...value, className: "ga-text ga-small ga-strong" }),
      Plot.text(names, { x: "x", y: "y", text: ({ line }) => isolated(line, direction), className: "ga-text ga-small" }),
      ...legend.map((part) => Plot.dot([part], { x: part.x + (rtl ? -1 : 1) * (SWATCH / 2), y: "y", symbol: "square", r: SWATCH / 2, className: partClass(part) })),
      Plot.text(legend, { x: ({ x }) => x + (rtl ? -1 : 1) * (SWATCH + 6), y: "y", textAnchor: rtl ? "end" : "start", text: ({ label }) => isolated(label), className: "ga-text ga-small" }),
      Plot.text(notes, { x: width / 2, y: "y", text: ({ line }) => isolated(line, direction), className: "ga-text ga-axis-label" }),
    ],
  });
}

const named = ({ phase, label, text }) => `${isolated(phase)}\n${isolated(label)}: ${isolated(text, "ltr")}`;

/** The parts' names in as few lines as they need, from the side where the page's text begins. */
function laidOut(parts, { width, rtl, top }) {
  let [used, row] = [0, 0];
  return parts.map(({ id, label }) => {
    const needs = SWATCH + 6 + label.length * SIZE * 0.5 + 16;
    if (used + needs > width - SIDE) [used, row] = [0, row + 1];
    const x = rtl ? width - SIDE - used : SIDE + used;
    used += needs;
    return { id, label, x, y: top + row * LEGEND };
  });
}
