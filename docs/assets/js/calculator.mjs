// Entry: brings every calculator, picture and stepper of a page to life, again after each instant navigation.

import { boot } from "./engine.mjs";
import { refreshLanguageLinks } from "./language-links.mjs";
import { LiveCalculator } from "./live-calculator.mjs";
import { enableStepper } from "./stepper.mjs";

let calculators = [];

function enhance() {
  refreshLanguageLinks();
  for (const figure of document.querySelectorAll(".ga-picture")) if (figure.querySelector(".ga-stepper")) enableStepper(figure);
  const sections = [...document.querySelectorAll(".ga-calculator")];
  calculators = sections.map((section) => known.get(section) ?? remember(section, new LiveCalculator(section)));
  if (sections.length > 0) whenIdle(() => boot().catch(() => {}));
}

/** The theme may announce the same page twice; its calculators must not be given two sets of listeners. */
const known = new WeakMap();

function remember(section, calculator) {
  known.set(section, calculator);
  return calculator;
}

/** Python weighs several megabytes: fetched unasked only over a fast line that the reader does not pay by the byte for. */
function whenIdle(task) {
  const line = navigator.connection;
  const fast = line && line.effectiveType === "4g" && line.downlink >= 5 && !line.saveData;
  if (fast && globalThis.requestIdleCallback) requestIdleCallback(task, { timeout: 10_000 });
}

addEventListener("hashchange", () => {
  for (const calculator of calculators) calculator.restore();
});

if (globalThis.document$) document$.subscribe(enhance);
else enhance();
