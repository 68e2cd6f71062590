// Gradients as arrows from one origin, in the plane of their first two components.

import { legend, styled, ticks, written } from "./picture-grid.mjs";
import { HALO, isolated } from "./picture-parts.mjs";

const SIZE = 250; // Of the square; both axes share one scale, or angles would lie.
const EDGE = 30;
const HEAD = 11;

export function arrows({ Plot, document, data, width, direction }) {
  const series = styled(data.series);
  const names = legend(Plot, series, { width, direction });
  const ends = series.map(({ points }) => points[0]);
  const reach = [0, ...ends.flat(), ...(data.limit === null ? [] : [data.limit])];
  const [low, high] = [Math.min(...reach), Math.max(...reach)];
  const scale = (SIZE - 2 * EDGE) / (high - low || 1);
  const left = (width - SIZE) / 2;
  const top = names.height + 24;
  const across = (x) => left + EDGE + (x - low) * scale;
  const up = (y) => top + SIZE - EDGE - (y - low) * scale;
  const marks = ticks(low, high, 4).filter((value) => value !== 0);
  const small = { text: (value) => isolated(written(value), "ltr"), className: "ga-text ga-small", ...HALO };

  return Plot.plot({
    document,
    className: "ga-plot",
    width,
    height: top + SIZE + 26,
    margin: 0,
    x: { type: "identity", axis: null },
    y: { type: "identity", axis: null },
    marks: [
      ...names.marks,
      Plot.ruleY([up(0)], { x1: left, x2: left + SIZE, className: "ga-base" }),
      Plot.ruleX([across(0)], { y1: top, y2: top + SIZE, className: "ga-base" }),
      Plot.text(marks, { ...small, x: across, y: up(0) + 14 }),
      Plot.text(marks, { ...small, x: across(0) - 8, y: up, textAnchor: "end" }),
      data.limit === null ? null : Plot.line(circle(data.limit, low), { x: ([x]) => across(x), y: ([, y]) => up(y), className: "ga-level" }),
      ...[...series].reverse().flatMap((one) => arrow(Plot, one, [across(0), up(0)], [across(one.points[0][0]), up(one.points[0][1])])),
      Plot.text([data.axes[0]], { x: width / 2, y: top + SIZE + 14, text: (words) => isolated(words, direction), className: "ga-text ga-axis-label" }),
      Plot.text([data.axes[1]], { x: width / 2, y: top - 12, text: (words) => isolated(words, direction), className: "ga-text ga-axis-label" }),
    ],
  });
}

/** The part of a circle that lies within the square, in short pieces. */
function circle(radius, low) {
  const points = Array.from({ length: 145 }, (_, index) => [radius * Math.cos((index * Math.PI) / 72), radius * Math.sin((index * Math.PI) / 72)]);
  return points.map(([x, y]) => (x < low - 1e-9 || y < low - 1e-9 ? [Number.NaN, Number.NaN] : [x, y]));
}

function arrow(Plot, { className, dash }, from, to) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  if (Math.hypot(to[0] - from[0], to[1] - from[1]) < 1) return [Plot.dot([to], { r: 4, className })];
  const barb = (turn) => [to[0] - HEAD * Math.cos(angle + turn), to[1] - HEAD * Math.sin(angle + turn)];
  return [
    Plot.line([from, to], { className, strokeDasharray: dash }),
    Plot.line([barb(0.42), to, barb(-0.42)], { className }),
  ];
}
