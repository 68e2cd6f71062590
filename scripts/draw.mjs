// Reads {"picture", "data", "language"} as JSON on standard input and prints the picture's drawings as SVG, on one line.

import * as Plot from "@observablehq/plot";
import { text } from "node:stream/consumers";
import { parseHTML } from "linkedom";
import { draw } from "../docs/assets/js/pictures.mjs";

const { document } = parseHTML("<html><body></body></html>");
const drawings = draw(Plot, document, JSON.parse(await text(process.stdin)));
process.stdout.write(drawings.map((svg) => svg.outerHTML.replaceAll(/\s*\n\s*/g, " ")).join(""));
