// The numbers of a picture as a table, for whoever reads with the ears or wants the figures: in Node and in the browser alike.

/** What a table of each kind of data holds: its columns after the names of the rows, and its rows. */
const TABLES = {
  bars: (data) => ({ columns: [data.axis], rows: [...data.bars, ...limits(data)].map(({ label, text }) => [label, text]) }),
  stacks: ({ stacks, limit }, words) => ({
    columns: stacks.map(({ label }) => label),
    rows: [
      ...stacks[0].parts.map(({ label }, index) => [label, ...stacks.map(({ parts }) => parts[index].text)]),
      [words.total, ...stacks.map(({ text }) => text)],
      ...limits({ limit }).map(({ label, text }) => [label, ...stacks.map(() => text)]),
    ],
  }),
  points: (data) => ({
    columns: [data.axis, data.time_axis],
    rows: [...data.points.map(({ name, series, value, time }) => [`${name} \u00b7 ${data.series[series]}`, figure(value), figure(time)]),
      [data.limit.label, figure(data.limit.value), ""]],
  }),
  segments: ({ segments, axis, lanes }) => ({
    columns: [axis, lanes.gradients, lanes.weights],
    rows: segments.map(({ label, activations, gradients, weights }) => [label, figure(activations[1]), `${figure(100 * gradients[1])} %`, figure(weights)]),
  }),
};

/** Experiments: a row for each way, or for each place on the axis where curves have their points. */
const DRAWINGS = {
  bars: ({ axes, series }) => ({ columns: axes, rows: series.map(({ label, text }) => [label, text]) }),
  arrows: ({ axes, series }) => ({ columns: axes, rows: series.map(({ label, points }) => [label, ...points[0].map(figure)]) }),
  curves: ({ axes, series }) => {
    const at = series.map(({ points }) => new Map(points));
    const places = [...new Set(at.flatMap((points) => [...points.keys()]))].sort((one, other) => one - other);
    return { corner: axes[0], columns: series.map(({ label }) => label), rows: places.map((x) => [figure(x), ...at.map((points) => (points.has(x) ? figure(points.get(x)) : ""))]) };
  },
};

const limits = ({ limit }) => (limit ? [limit] : []);

const figure = (value) => (value && Math.abs(value) < 1e-4 ? value.toExponential(3) : value.toLocaleString("en", { maximumSignificantDigits: 6 }));

/**
 * @param {Document} document
 * @param {object} data a picture's data
 * @param {{total: string}} words
 */
export function tableOf(document, data, words) {
  const kind = Object.keys(TABLES).find((name) => name in data);
  const { corner = "", columns, rows } = data.kind ? DRAWINGS[data.kind](data) : TABLES[kind](data, words);
  const table = document.createElement("table");
  const line = (parent, cells) => {
    const row = document.createElement("tr");
    parent.append(row);
    for (const { name, text, scope } of cells) {
      const cell = document.createElement(name);
      cell.textContent = text;
      if (scope) cell.setAttribute("scope", scope);
      // A figure keeps its own direction; a name takes that of its letters.
      cell.setAttribute("dir", name === "td" && text ? "ltr" : "auto");
      row.append(cell);
    }
  };
  const [head, body] = [document.createElement("thead"), document.createElement("tbody")];
  table.append(head, body);
  const heads = columns.map((text) => ({ name: "th", text, scope: "col" }));
  line(head, [corner ? { name: "th", text: corner, scope: "col" } : { name: "td", text: "" }, ...heads]);
  for (const [name, ...figures] of rows) line(body, [{ name: "th", text: name, scope: "row" }, ...figures.map((text) => ({ name: "td", text }))]);
  return table;
}
