// Brings every calculator of a page to life, again after each instant navigation.

import { boot } from "./engine.mjs";
import { isFast, whenIdle } from "./line.mjs";
import { LiveCalculator } from "./live-calculator.mjs";
import { enablePresets } from "./presets.mjs";

let calculators = [];
let path = "";

function enhance() {
  const before = location.pathname === path ? calculators : [];
  path = location.pathname;
  const sections = [...document.querySelectorAll(".ga-calculator")];
  calculators = sections.map((section) => before.find((one) => one.section === section) ?? successor(section, before));
  // Python weighs several megabytes: fetched unasked only over a fast line that the reader does not pay by the byte for.
  if (sections.length > 0 && isFast()) whenIdle(() => Promise.all([boot(), import("./answer.mjs")]).catch(() => {}));
}

/**
 * The theme fetches the page anew and replaces its content the first time a reader follows an anchor within it;
 * what was typed into the form before must not go with it.
 */
function successor(section, before) {
  const calculator = new LiveCalculator(section);
  const earlier = before.find((one) => one.section.dataset.calculator === section.dataset.calculator);
  if (earlier) calculator.takeOver(earlier);
  else calculator.begin();
  return calculator;
}

addEventListener("hashchange", () => {
  for (const calculator of calculators) calculator.restore();
});

enablePresets();
if (globalThis.document$) document$.subscribe(enhance);
else enhance();
