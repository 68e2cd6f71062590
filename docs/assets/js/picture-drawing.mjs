// What an experiment draws: bars, curves or arrows, the right way beside the wrong ones.
// Right and wrong differ by colour and by shape: a wrong way is hatched, dashed, or an arrow drawn in dashes.

import { arrows } from "./picture-arrows.mjs";
import { curves } from "./picture-curves.mjs";
import { figure, ticks } from "./picture-grid.mjs";
import { HALO, hatching, isolated } from "./picture-parts.mjs";

const KINDS = { bars, curves, arrows };
const SIDE = 8;
const ROW = 54; // One line of text and the bar under it.
const BAR = { top: 26, bottom: 46 };
const FOOT = 50;

export function drawing(request) {
  return KINDS[request.data.kind](request);
}

/** A bar under the line that names it. All grow from one zero, away from the side where the page's text begins. */
function bars({ Plot, document, data, width, direction, key }) {
  const rtl = direction === "rtl";
  const foot = data.series.length * ROW;
  const values = [0, data.limit ?? 0, ...data.series.map(({ points }) => points[0][1])];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const share = (value) => (value - least) / (most - least || 1);
  const place = (value) => SIDE + (rtl ? 1 - share(value) : share(value)) * (width - 2 * SIDE);
  const rows = data.series.map((one, index) => ({ ...one, y: index * ROW, x: place(one.points[0][1]) }));
  const of = (...roles) => rows.filter(({ role }) => roles.includes(role));
  const bar = { x1: () => place(0), x2: "x", y1: ({ y }) => y + BAR.top, y2: ({ y }) => y + BAR.bottom };
  const [near, far] = rtl ? [width - SIDE, SIDE] : [SIDE, width - SIDE];
  const line = { y: ({ y }) => y + 13, ...HALO };

  const svg = Plot.plot({
    document,
    className: "ga-plot",
    width,
    height: foot + FOOT,
    margin: 0,
    x: { type: "identity", axis: null },
    y: { type: "identity", axis: null },
    marks: [
      Plot.rect(of("right"), { ...bar, className: "ga-right" }),
      Plot.rect(of("plain"), { ...bar, className: "ga-plain" }),
      Plot.rect(of("wrong"), { ...bar, fill: `url(#${key})`, className: "ga-wrong" }),
      Plot.ruleX(rows, { x: "x", y1: bar.y1, y2: bar.y2, className: "ga-tip" }),
      data.limit === null ? null : Plot.ruleX([place(data.limit)], { y1: BAR.top, y2: foot, className: "ga-level" }),
      Plot.ruleX([place(0)], { y1: BAR.top - 4, y2: foot, className: "ga-base" }),
      Plot.text(rows, { ...line, x: near, textAnchor: rtl ? "end" : "start", text: ({ label }) => isolated(label, direction), className: "ga-text" }),
      Plot.text(rows, { ...line, x: far, textAnchor: rtl ? "start" : "end", text: ({ text }) => isolated(text, "ltr"), className: "ga-text ga-strong" }),
      ...figure(Plot, ticks(least, most, width > 480 ? 7 : 4), { at: place, y: foot, name: data.axes[0], width, direction }),
    ],
  });
  svg.prepend(hatching(document, key, "ga-hatch-wrong"));
  return svg;
}
