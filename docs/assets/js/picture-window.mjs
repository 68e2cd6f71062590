// One accumulation window as a saw-tooth: activations rise and fall with every micro-batch, the gradient buffer fills once,
// the weights move once. Time runs from left to right in both languages.

import { HALO, isolated, wrapped } from "./picture-parts.mjs";

const SIDE = 6;
const PANEL = 128; // The saw-tooth.
const STRIP = 30; // The gradient buffer and the weights.
const CAPTION = 28; // A line of text above a panel.
const NUMBERS = 30; // The micro-batches' numbers under the last panel.
const LINE = 18;

export function accumulationWindow({ Plot, document, data, width, direction }) {
  const { segments, peak, lanes } = data;
  const rtl = direction === "rtl";
  const end = segments.at(-1).to;
  const saw = { top: 2 * CAPTION, bottom: 2 * CAPTION + PANEL };
  const gradients = { top: saw.bottom + CAPTION, bottom: saw.bottom + CAPTION + STRIP };
  const weights = { top: gradients.bottom + CAPTION, bottom: gradients.bottom + CAPTION + STRIP };
  const notes = wrapped(data.time_axis, width, 13);
  const height = weights.bottom + NUMBERS + notes.length * LINE;
  const level = (panel, share) => panel.bottom - share * (panel.bottom - panel.top);
  const scale = peak.value || 1;
  const caption = { frameAnchor: rtl ? "top-right" : "top-left", textAnchor: rtl ? "end" : "start", lineAnchor: "bottom", dx: rtl ? -SIDE : SIDE, className: "ga-text", ...HALO };
  const line = (text, y, more = {}) => Plot.text([text], { ...caption, text: (words) => isolated(words), dy: y, ...more });

  const area = (name, panel, total) => segments.flatMap((segment, index) => segment[name].map((value, side) => ({
    x: side ? segment.to : segment.from, y: level(panel, value / total), index, phase: segment.phase,
  })));
  const filled = (rows, panel, className) => [
    Plot.areaY(rows, { x: "x", y1: panel.bottom, y2: "y", z: "index", className }),
    Plot.line(rows, { x: "x", y: "y", className: `${className} ga-edge` }),
  ];
  const inside = (wanted) => segments.filter(({ phase }) => phase === wanted);
  const middle = ({ from, to }) => (from + to) / 2;

  const svg = Plot.plot({
    document,
    className: "ga-plot",
    width,
    height,
    margin: 0,
    x: { domain: [0, end], range: [SIDE, width - SIDE], axis: null },
    y: { type: "identity", axis: null },
    marks: [
      Plot.rect(inside("update"), { x1: "from", x2: "to", y1: saw.top, y2: weights.bottom, className: "ga-update" }),
      Plot.ruleX(segments, { x: "from", y1: saw.top, y2: weights.bottom, className: "ga-phase" }),
      ...filled(area("activations", saw, scale), saw, "ga-activations"),
      ...filled(area("gradients", gradients, 1), gradients, "ga-gradients"),
      ...versions(Plot, segments, weights),
      ...[saw, gradients, weights].map(({ bottom }) => Plot.ruleY([bottom], { className: "ga-base" })),
      Plot.ruleY([saw.top], { className: "ga-peak" }),
      line(data.axis, CAPTION - 10),
      line(`${isolated(peak.label)}: ${isolated(peak.text, "ltr")}`, saw.top - 7, { className: "ga-text ga-strong", text: (words) => isolated(words, direction) }),
      line(lanes.gradients, gradients.top - 7),
      line(lanes.weights, weights.top - 7),
      Plot.text(microBatches(segments), { x: middle, y: weights.bottom + 14, text: "name", className: "ga-text ga-small" }),
      Plot.text(inside("skipped"), { x: middle, y: (saw.top + saw.bottom) / 2, text: () => "\u22ef", className: "ga-text ga-gap" }),
      Plot.text(notes, { frameAnchor: "bottom", y: (_, row) => weights.bottom + NUMBERS + (row + 0.5) * LINE, text: (words) => isolated(words, direction), className: "ga-text ga-axis-label" }),
      // Last, so that it lies on top: the stepper lights one of these, and pointing at one names its phase.
      Plot.rect(segments, { x1: "from", x2: "to", y1: saw.top, y2: weights.bottom, title: "label", className: "ga-segments" }),
    ],
  });
  return svg;
}

/** A step where the weights move: low before the update, high after it. */
function versions(Plot, segments, panel) {
  const first = segments[0].weights;
  const rows = segments.flatMap(({ from, to, weights }) => {
    const y = panel.bottom - (panel.bottom - panel.top) * (weights > first ? 0.9 : 0.5);
    return [{ x: from, y }, { x: to, y }];
  });
  return [
    Plot.areaY(rows, { x: "x", y1: panel.bottom, y2: "y", className: "ga-weights" }),
    Plot.line(rows, { x: "x", y: "y", className: "ga-weights ga-edge" }),
  ];
}

/** Each micro-batch's number under its forward and backward pass. */
function microBatches(segments) {
  const starts = segments.filter(({ phase }) => phase === "forward");
  return starts.map(({ from, micro_batch }) => {
    const backward = segments.find((other) => other.phase === "backward" && other.micro_batch === micro_batch);
    return { from, to: backward.to, name: String(micro_batch) };
  });
}
