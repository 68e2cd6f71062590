// The HTML of the built site against the standard, by html-validate and the rules in .htmlvalidate.json.
// `node scripts/check_html.mjs [SITE]` prints each fault and ends with status 1 if there is one.
//
// Rules that are off, and why:
//   attribute-boolean-style, void-style  are how Markdown's tabs write their inputs; both ways are HTML
//   no-trailing-whitespace  is a matter of the theme's templates, not of HTML
//   no-inline-style         KaTeX places parts of a formula with it
//   element-permitted-order a caption stands under its drawing and above the table behind it, not last in the figure
//   long-title              search engines cut titles; a pitfall's says its symptom whole
//   prefer-native-element   a box that scrolls is a region by its role; a <section> would begin a part of the text
//   unique-landmark         the theme nests navigation inside navigation; axe checks landmarks in the browser tests
//   valid-autocomplete      the theme's switches are checkboxes that browsers would otherwise restore
//   wcag/h32                calculators answer while you type and have nothing to submit; their reset button would not do
// Ids may begin with "_": the theme's do.

import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { HtmlValidate, StaticConfigLoader } from "html-validate";

const site = process.argv[2] ?? "site";
const files = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
const validator = new HtmlValidate(new StaticConfigLoader(JSON.parse(readFileSync(new URL("../.htmlvalidate.json", import.meta.url), "utf8"))));
let faults = 0;
for (const name of files) {
  const { results } = await validator.validateFile(join(site, name));
  for (const { filePath, messages } of results) {
    for (const { ruleId, message, line, selector } of messages) {
      faults += 1;
      console.log(`${relative(site, filePath)}:${line}: ${ruleId}: ${message} (${selector ?? ""})`);
    }
  }
}
console.log(`${files.length} files, ${faults} faults`);
process.exitCode = faults ? 1 : 0;
