// Reads [{"svg", "width", "out"}] as JSON on standard input and writes each drawing as a PNG file of that width.
// No browser is needed: resvg shapes Arabic and orders mixed lines.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { json } from "node:stream/consumers";
import { initWasm, Resvg } from "@resvg/resvg-wasm";

// Whole, not the subsets that the site serves: a line of both scripts is shaped with one font or comes out with holes.
const FONTS = ["400Regular/IBMPlexSansArabic_400Regular", "700Bold/IBMPlexSansArabic_700Bold"];
const fontBuffers = FONTS.map((name) => readFileSync(file(`@expo-google-fonts/ibm-plex-sans-arabic/${name}.ttf`)));

await initWasm(readFileSync(file("@resvg/resvg-wasm/index_bg.wasm")));
for (const { svg, width, out } of await json(process.stdin)) {
  const font = { fontBuffers, loadSystemFonts: false, defaultFontFamily: "IBM Plex Sans Arabic" };
  writeFileSync(out, new Resvg(svg, { font, fitTo: { mode: "width", value: width } }).render().asPng());
}

function file(inPackage) {
  return fileURLToPath(import.meta.resolve(inPackage));
}
