// Copy buttons: the result as text, as JSON, as a command line, as a link.

import { addressFor } from "./address.mjs";
import { tick } from "./dom.mjs";

/**
 * @param {HTMLElement} section a calculator
 * @param {(format: "text" | "json" | "command") => Promise<string>} textOf what the package says in that form
 * @param {(done: boolean, format?: string) => void} report
 */
export function enableCopying(section, textOf, report) {
  const form = section.querySelector(".ga-form");
  const link = () => Promise.resolve(addressFor(form, section.dataset.calculator).href);
  for (const button of section.querySelectorAll('[data-action="copy"]')) {
    const format = button.dataset.format;
    button.addEventListener("click", async () => {
      try {
        await copy(format === "link" ? link() : textOf(format));
        tick(button);
        report(true, format);
      } catch {
        report(false);
      }
    });
  }
}

/** Safari lets a page copy only inside the click itself; there a promise handed over in time may be kept later. */
async function copy(promised) {
  if (globalThis.ClipboardItem && navigator.clipboard?.write) {
    const blob = promised.then((text) => new Blob([text], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
  } else {
    await navigator.clipboard.writeText(await promised);
  }
}
