// A refused request: each message beside its field, in the page's language. What was typed and where the focus is stay untouched.

import { controls, shownFor } from "./form.mjs";
import { make } from "./dom.mjs";

export function showErrors(section, errors) {
  const form = section.querySelector(".ga-form");
  const byField = grouped(errors);
  for (const control of controls(form)) {
    mark(control, byField.get(control.name) ?? []);
    byField.delete(control.name);
  }
  const rest = section.querySelector(".ga-form-errors");
  rest.replaceChildren(...[...byField.values()].flat().map(line));
}

export function clearErrors(section) {
  showErrors(section, []);
}

function mark(control, errors) {
  const place = document.getElementById(`${control.id}-error`);
  place.replaceChildren(...errors.map(line));
  place.hidden = errors.length === 0;
  const shown = shownFor(control);
  if (errors.length === 0) {
    shown.removeAttribute("aria-invalid");
    return;
  }
  shown.setAttribute("aria-invalid", "true");
  // A message inside a closed <details> would be read by nobody.
  const folded = control.closest("details");
  if (folded) folded.open = true;
}

function line({ message, hint }) {
  const text = make("span", "ga-message", message);
  if (hint) text.append(" ", make("span", "ga-hint", hint));
  return text;
}

function grouped(errors) {
  const groups = new Map();
  for (const error of errors) groups.set(error.field, [...(groups.get(error.field) ?? []), error]);
  return groups;
}
