// Inputs in the address, so that a result can be shared: #micro_batch=4&accumulation_steps=8
// The theme's navigation.tracking must stay off: it would write the heading in view over them as the reader scrolls.

import { controls, setText, startingText, textOf } from "./form.mjs";

/** Only needed where one page holds several calculators: says whose inputs the address holds. */
const WHOSE = "calculator";

/** Longer texts make addresses that mail and chat programs cut off. */
const LONGEST = 6000;

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

/** JSON without the blanks between its parts; other texts as they are. */
function written(control) {
  const text = textOf(control);
  return control.matches(".ga-field-object *") ? text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1") : text;
}

const leftOut = (control) => encodeURIComponent(written(control)).length > LONGEST;

/** Whether something in the form is too long for an address. */
export function isCut(form) {
  return controls(form).some(leftOut);
}

/** The page's address with the form's inputs in it, but for what is too long. */
export function addressFor(form, name) {
  const kept = new URLSearchParams();
  const several = document.querySelectorAll(".ga-calculator").length > 1;
  if (several) kept.set(WHOSE, name);
  for (const control of controls(form)) {
    if (leftOut(control)) continue;
    const text = written(control);
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
  for (const note of form.querySelectorAll(".ga-too-long")) note.hidden = !isCut(form);
}
