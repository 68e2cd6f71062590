// The whole batch at once beside one micro-batch, against what one GPU holds.

import { HALO, hatching, isolated, limitText } from "./picture-parts.mjs";

const ROW = 62; // One line of text and the bar under it.
const BAR = { top: 28, height: 26 };
const TOP = { limit: 30, none: 6 };
const BOTTOM = 52;
const SIDE = 6;

/** Bars grow from the side where the page's text begins. */
export function capacity({ Plot, document, data, width, direction, key }) {
  const { bars, limit } = data;
  const top = limit ? TOP.limit : TOP.none;
  const foot = top + bars.length * ROW;
  const rtl = direction === "rtl";
  const largest = Math.max(...bars.map(({ value }) => value), limit?.value ?? 0);
  const rows = bars.map((bar, index) => ({ ...bar, text_y: top + index * ROW + 14, y1: top + index * ROW + BAR.top, y2: top + index * ROW + BAR.top + BAR.height }));
  const over = limit ? rows.filter(({ value }) => value > limit.value) : [];
  const start = { frameAnchor: rtl ? "right" : "left", textAnchor: rtl ? "end" : "start", dx: rtl ? -SIDE : SIDE };
  const end = { frameAnchor: rtl ? "left" : "right", textAnchor: rtl ? "start" : "end", dx: rtl ? SIDE : -SIDE };
  const bar = { x1: 0, x2: "value", y1: "y1", y2: "y2", className: "ga-activations" };

  const svg = Plot.plot({
    document,
    className: "ga-plot",
    width,
    height: foot + BOTTOM,
    margin: 0,
    marginBottom: BOTTOM,
    x: { domain: [0, largest * 1.02], range: rtl ? [width - SIDE, SIDE] : [SIDE, width - SIDE] },
    y: { type: "identity", axis: null },
    marks: [
      Plot.axisX({ anchor: "bottom", ticks: width > 480 ? 8 : 4, tickSize: 4, label: null, className: "ga-axis" }),
      Plot.rect(rows, bar),
      // A bar of almost nothing still shows where it ends.
      Plot.ruleX(rows, { x: "value", y1: "y1", y2: "y2", className: "ga-end" }),
      Plot.rect(over, { ...bar, x1: limit?.value, fill: `url(#${key})`, className: "ga-excess" }),
      limit && Plot.ruleX([limit], { x: "value", y1: top - 8, y2: foot, className: "ga-limit" }),
      Plot.text(rows, { ...start, y: "text_y", text: ({ label }) => isolated(label), className: "ga-text", ...HALO }),
      Plot.text(rows, { ...end, y: "text_y", text: ({ text }) => isolated(text, "ltr"), className: "ga-text ga-strong", ...HALO }),
      limit && limitText(Plot, limit, { y: top - 18, largest, rtl }),
      Plot.text([data.axis], { frameAnchor: "bottom", dy: BOTTOM - 8, text: (words) => isolated(words), className: "ga-text ga-axis-label" }),
    ],
  });
  svg.prepend(hatching(document, key, "ga-hatch"));
  return svg;
}
