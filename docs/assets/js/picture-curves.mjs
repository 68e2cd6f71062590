// Curves over one axis, which runs from left to right in both languages.

import { figure, legend, levels, styled, ticks } from "./picture-grid.mjs";
import { isolated } from "./picture-parts.mjs";

const HEIGHT = 190;
const LEFT = 64; // Room for the numbers of the upright axis.
const RIGHT = 16;
const NAME = 26;
const FOOT = 50;

export function curves({ Plot, document, data, width, direction }) {
  const rtl = direction === "rtl";
  const series = styled(data.series);
  const names = legend(Plot, series, { width, direction });
  const top = names.height + NAME;
  const bottom = top + HEIGHT;
  const points = series.flatMap((one) => one.points);
  const [first, last] = extent(points.map(([x]) => x));
  const [least, most] = extent([0, data.limit ?? 0, ...points.map(([, y]) => y)]);
  const across = (x) => LEFT + ((x - first) / (last - first || 1)) * (width - LEFT - RIGHT);
  const up = (y) => bottom - ((y - least) / (most - least || 1)) * HEIGHT;

  return Plot.plot({
    document,
    className: "ga-plot",
    width,
    height: bottom + FOOT,
    margin: 0,
    x: { type: "identity", axis: null },
    y: { type: "identity", axis: null },
    marks: [
      ...names.marks,
      Plot.text([data.axes[1]], { x: rtl ? width - 8 : 8, y: names.height + 8, textAnchor: rtl ? "end" : "start", text: (words) => isolated(words, direction), className: "ga-text ga-axis-label" }),
      ...levels(Plot, ticks(least, most, 5), { at: up, x1: LEFT, x2: width - RIGHT }),
      Plot.ruleY([bottom], { x1: LEFT, x2: width - RIGHT, className: "ga-base" }),
      data.limit === null ? null : Plot.ruleY([up(data.limit)], { x1: LEFT, x2: width - RIGHT, className: "ga-level" }),
      // The right way last, so that it lies on top where a wrong one runs along with it.
      ...[...series].reverse().map((one) => Plot.line(one.points, { x: ([x]) => across(x), y: ([, y]) => up(y), className: one.className, strokeDasharray: one.dash })),
      ...figure(Plot, ticks(first, last, width > 480 ? 8 : 4), { at: across, y: bottom, name: data.axes[0], width, direction }),
    ],
  });
}

function extent(values) {
  return [Math.min(...values), Math.max(...values)];
}
