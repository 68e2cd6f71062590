// Reads {"picture", "data", "language", "words"} as JSON on standard input and prints the picture's drawings as SVG on one line,
// and on the next one the table of its numbers.

import * as Plot from "@observablehq/plot";
import { text } from "node:stream/consumers";
import { parseHTML } from "linkedom";
import { tableOf } from "../docs/assets/js/picture-table.mjs";
import { draw, PLACES } from "../docs/assets/js/pictures.mjs";

const { document } = parseHTML("<html><body></body></html>");
const request = JSON.parse(await text(process.stdin));
const lines = [PLACES.map((place) => draw(Plot, document, request, place)), [tableOf(document, request.data, request.words)]];
process.stdout.write(lines.map((line) => line.map((element) => element.outerHTML.replaceAll(/\s*\n\s*/g, " ")).join("")).join("\n"));
