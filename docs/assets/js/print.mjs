// Print a result and nothing else: inputs, figures, pictures and the address that brings them back, on one page.

import { addressFor } from "./address.mjs";
import { controls, startingText, textOf } from "./form.mjs";

const MARK = "ga-printing";
/** More of an address than this would be all that fits the page. */
const LONGEST = 400;

export function enablePrinting(section) {
  section.querySelector('[data-action="print"]')?.addEventListener("click", () => {
    const form = section.querySelector(".ga-form");
    const address = addressFor(form, section.dataset.calculator).href;
    section.querySelector(".ga-source").textContent = address.length > LONGEST ? location.href.split("#")[0] : address;
    // The theme unfolds everything for paper; of the further inputs, those matter that the reader opened or changed, and those
    // that were typed and not chosen: figures rest on them.
    const telling = controls(form).filter((control) => textOf(control) !== startingText(control) || (control.type === "text" && textOf(control)));
    for (const more of section.querySelectorAll(".ga-more")) {
      more.classList.toggle("ga-kept", more.open || telling.some((control) => more.contains(control)));
    }
    document.documentElement.classList.add(MARK);
    print();
  });
}

addEventListener("afterprint", () => document.documentElement.classList.remove(MARK));
