// A calculator's form: what the reader typed, as a request's inputs. Nothing is parsed here; Python reads the text.

/** Every field of the form by name. */
export function controls(form) {
  return [...form.elements].filter((element) => element.name);
}

/** Text as typed, or "true"/"false" for a checkbox. */
export function textOf(control) {
  return control.type === "checkbox" ? String(control.checked) : control.value;
}

export function setText(control, text) {
  if (control.type === "checkbox") control.checked = text === "true";
  else control.value = text;
  control.dispatchEvent(new Event(SET));
}

const SET = "ga-set";

/** Call back when a value was put into the control by anything but the reader's own hand. */
export function whenSet(control, callback) {
  control.addEventListener(SET, callback);
  control.form.addEventListener("reset", () => setTimeout(callback));
}

/** The control that the reader sees: a search box may stand in the place of a long list. */
export function shownFor(control) {
  return document.getElementById(`${control.id}-search`) ?? control;
}

/** What the form held when the page was printed. */
export function startingText(control) {
  if (control.type === "checkbox") return String(control.defaultChecked);
  if (control instanceof HTMLSelectElement) {
    const printed = [...control.options].find((option) => option.defaultSelected) ?? control.options[0];
    return printed?.value ?? "";
  }
  return control.defaultValue;
}

/** The inputs of a request: empty fields are left out, so that their defaults hold. */
export function readInputs(form) {
  const inputs = {};
  for (const control of controls(form)) {
    if (control.type === "checkbox") inputs[control.name] = control.checked;
    else if (control.value.trim()) inputs[control.name] = control.value;
  }
  return inputs;
}

/** The shell command that gives the same answer, for a reader whose browser cannot: typed text in, nothing computed. */
export function commandFor(form, name, language) {
  const words = ["gradaccum", dashed(name), "--lang", language];
  for (const control of controls(form)) {
    const option = `--${dashed(control.name)}`;
    if (control.type === "checkbox") words.push(...(control.checked ? [option] : []));
    else if (control.value.trim()) words.push(option, quoted(control.value.trim()));
  }
  return words.join(" ");
}

const dashed = (name) => name.replaceAll("_", "-");

function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
