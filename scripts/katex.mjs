// Reads [{tex, display}, …] as JSON on standard input and prints the list of rendered formulas.
// Each holds HTML for the eye and MathML for screen readers and copying.
import { readFileSync } from "node:fs";
import katex from "katex";

const formulas = JSON.parse(readFileSync(0, "utf8"));
const rendered = formulas.map(({ tex, display }) => {
  try {
    return katex.renderToString(tex, { displayMode: display, output: "htmlAndMathml", throwOnError: true, strict: "error" });
  } catch (error) {
    throw new Error(`${tex}\n${error.message}`);
  }
});
process.stdout.write(JSON.stringify(rendered));
