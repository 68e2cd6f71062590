// What pictures are made of.

/** Text that keeps its own direction inside a drawing that is laid out from left to right. */
export function isolated(text, direction = "auto") {
  const open = { auto: "\u2068", rtl: "\u2067", ltr: "\u2066" }[direction];
  return `${open}${text}\u2069`;
}

const SVG = "http://www.w3.org/2000/svg";

/** Diagonal lines over a colour: marks by shape what is also marked by colour. */
export function hatching(document, id, className) {
  const make = (name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const pattern = make("pattern", { id, class: className, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  pattern.append(make("rect", { width: 7, height: 7 }), make("line", { x1: 0, y1: 0, x2: 0, y2: 7 }));
  const definitions = make("defs", {});
  definitions.append(pattern);
  return definitions;
}

/** Text over lines: the halo of the page's own colour keeps it readable. */
export const HALO = { fill: "currentColor", stroke: "var(--ga-surface)", strokeWidth: 5, strokeLinejoin: "round", paintOrder: "stroke" };

/**
 * Lines of at most `width`, for text too long for a narrow drawing. Nothing can be measured in Node, so the width of a
 * letter is taken as half the size of the type, which is a little more than both scripts need.
 */
export function wrapped(text, width, size) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (longer.length * size * 0.5 <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.filter(Boolean);
}

/** Parts one on top of the other: each with where it begins and where it ends. */
export function stacked(parts) {
  let sum = 0;
  return parts.map((part) => {
    const from = sum;
    sum += part.value;
    return { ...part, from, to: sum };
  });
}

/** The colour of a quantity, the same in every picture. */
export const partClass = ({ id }) => `ga-part ga-${id.replaceAll("_", "-")}`;

/** The limit's name stays inside the drawing: on the side of its line that has more room. */
export function limitText(Plot, limit, { y, largest, rtl }) {
  const beyondMiddle = limit.value > largest / 2;
  const text = `${isolated(limit.label)} \u00b7 ${isolated(limit.text, "ltr")}`;
  return Plot.text([limit], { x: "value", y, text: () => text, textAnchor: beyondMiddle === rtl ? "start" : "end", className: "ga-text ga-limit-text" });
}
