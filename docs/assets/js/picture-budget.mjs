// What one peak is made of: a stacked bar against the memory there is, and under it each part with its size.

import { HALO, hatching, isolated, limitText, partClass, stacked } from "./picture-parts.mjs";

const BAR = 34;
const LINE = 26; // A part's name and size.
const SWATCH = 14;
const TOP = { limit: 30, none: 8 };
const AXIS = 52; // From the bar to the first part.
const SIDE = 6;

/** The bar grows from the side where the page's text begins. */
export function budget({ Plot, document, data, width, direction, key }) {
  const { limit } = data;
  const [stack] = data.stacks;
  const rtl = direction === "rtl";
  const top = limit ? TOP.limit : TOP.none;
  const bar = { y1: top, y2: top + BAR };
  const foot = bar.y2 + AXIS;
  const largest = Math.max(stack.value, limit?.value ?? 0) || 1;
  const parts = stacked(stack.parts).map((part, row) => ({ ...part, y: foot + (row + 0.5) * LINE }));
  const height = foot + parts.length * LINE + 4;
  const [start, end] = rtl ? ["right", "left"] : ["left", "right"];
  const inwards = (distance) => (rtl ? -distance : distance);
  const line = (anchor, more) => ({ frameAnchor: anchor, textAnchor: anchor === "left" ? "start" : "end", y: "y", className: "ga-text", ...HALO, ...more });
  const over = limit && stack.value > limit.value ? [stack] : [];

  const svg = Plot.plot({
    document,
    className: "ga-plot",
    width,
    height,
    margin: 0,
    marginBottom: height - bar.y2,
    x: { domain: [0, largest * 1.02], range: rtl ? [width - SIDE, SIDE] : [SIDE, width - SIDE] },
    y: { type: "identity", axis: null },
    marks: [
      Plot.axisX({ anchor: "bottom", ticks: width > 480 ? 8 : 4, tickSize: 4, label: null, className: "ga-axis" }),
      ...parts.filter(({ value }) => value > 0).map((part) => Plot.rect([part], { x1: "from", x2: "to", ...bar, title: named, className: partClass(part) })),
      Plot.rect(over, { x1: limit?.value, x2: "value", ...bar, fill: `url(#${key})`, className: "ga-excess" }),
      limit && Plot.ruleX([limit], { x: "value", y1: bar.y1 - 8, y2: bar.y2 + 2, className: "ga-limit" }),
      limit && limitText(Plot, limit, { y: top - 18, largest, rtl }),
      Plot.text([data.axis], { frameAnchor: "top", y: bar.y2 + 36, text: (words) => isolated(words), className: "ga-text ga-axis-label" }),
      ...parts.map((part) => Plot.dot([part], { frameAnchor: start, dx: inwards(SIDE + SWATCH / 2), y: "y", symbol: "square", r: SWATCH / 2, className: partClass(part) })),
      Plot.text(parts, line(start, { dx: inwards(SIDE + SWATCH + 8), text: ({ label }) => isolated(label) })),
      Plot.text(parts, line(end, { dx: inwards(-SIDE), text: ({ text }) => isolated(text, "ltr"), className: "ga-text ga-strong" })),
    ],
  });
  svg.prepend(hatching(document, key, "ga-hatch"));
  return svg;
}

const named = ({ label, text }) => `${isolated(label)}: ${isolated(text, "ltr")}`;
