// Inputs in the address, so that a result can be shared: #micro_batch=4&accumulation_steps=8
// The theme's navigation.tracking must stay off: it would write the heading in view over them as the reader scrolls.

import { controls, setText, startingText, textOf } from "./form.mjs";

/** Only needed where one page holds several calculators: says whose inputs the address holds. */
const WHOSE = "calculator";

function parameters() {
  return new URLSearchParams(location.hash.slice(1));
}

/** Does the address hold inputs of this calculator? A heading's anchor holds none. */
export function addressHolds(form, name) {
  const given = parameters();
  const whose = given.get(WHOSE);
  if (whose !== null && whose !== name) return false;
  return controls(form).some((control) => given.has(control.name));
}

/** Put the address's inputs into the form; what it leaves out returns to what the page was printed with. */
export function restoreFromAddress(form) {
  const given = parameters();
  for (const control of controls(form)) setText(control, given.get(control.name) ?? startingText(control));
}

/** The page's address with the form's inputs in it. */
export function addressFor(form, name) {
  const kept = new URLSearchParams();
  const several = document.querySelectorAll(".ga-calculator").length > 1;
  if (several) kept.set(WHOSE, name);
  for (const control of controls(form)) {
    const text = textOf(control);
    // An emptied field and an unticked box must be written down too, or the link would bring their starting value back.
    if (control.type === "checkbox" ? text !== startingText(control) : text || startingText(control)) kept.set(control.name, text);
  }
  const address = new URL(location.href);
  address.hash = kept.toString();
  return address;
}

/** The theme keeps the scroll position in the history entry's state: losing it makes "back" jump to the top. */
export function writeAddress(form, name) {
  history.replaceState(history.state, "", addressFor(form, name));
}
