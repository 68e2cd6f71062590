// Entry of every page: fetches what this page has a use for, again after each instant navigation.

import { refreshLanguageLinks } from "./language-links.mjs";
import { isOfThisVersion, keepForOffline } from "./offline.mjs";

const parts = {
  ".ga-calculator": () => import("./calculator.mjs"),
  ".ga-stepper": () => import("./stepper.mjs"),
  ".ga-question": () => import("./quiz.mjs"),
};

function enhance() {
  // An instant navigation may have brought a page of a newer version, which the scripts that run here do not know.
  if (!isOfThisVersion()) {
    location.reload();
    return;
  }
  refreshLanguageLinks();
  for (const [selector, load] of Object.entries(parts)) if (document.querySelector(selector)) load();
  keepForOffline();
}

document.addEventListener("focusin", ({ target }) => {
  if (target.closest?.(".md-search")) import("./search-offer.mjs");
});

if (globalThis.document$) document$.subscribe(enhance);
else enhance();
