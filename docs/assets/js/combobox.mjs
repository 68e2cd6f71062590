// A long list of choices that can be searched: an input with a list under it, in the place of a <select>, which keeps the value.
// Keys and roles follow the "editable combobox with list autocomplete" of the ARIA Authoring Practices.

import { make } from "./dom.mjs";
import { shownFor, whenSet } from "./form.mjs";
import { word } from "./words.mjs";

export function enableSearch(select) {
  if (shownFor(select) !== select) return;
  new Combobox(select);
}

class Combobox {
  #select;
  #input;
  #list;
  #status;
  #active = -1;

  constructor(select) {
    this.#select = select;
    const label = document.querySelector(`label[for="${select.id}"]`);
    this.#input = Object.assign(make("input"), { id: `${select.id}-search`, type: "text", autocomplete: "off", spellcheck: false, dir: "auto" });
    this.#list = Object.assign(make("ul", "ga-choices"), { id: `${select.id}-list`, hidden: true });
    this.#status = make("p", "ga-matches");
    this.#set(this.#input, { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.#list.id, "aria-describedby": select.getAttribute("aria-describedby") });
    this.#set(this.#list, { role: "listbox", "aria-label": label.firstChild.textContent });
    this.#set(this.#status, { role: "status" });
    label.htmlFor = this.#input.id;
    select.hidden = true;
    select.after(this.#input, this.#list, this.#status);
    this.#show();
    this.#listen();
  }

  #set(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  }

  #listen() {
    const input = this.#input;
    whenSet(this.#select, () => this.#show());
    input.addEventListener("focus", () => input.select());
    input.addEventListener("click", () => this.#open(""));
    input.addEventListener("input", (event) => {
      event.stopPropagation(); // Only a choice is an input of the calculator.
      this.#open(input.value);
    });
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => this.#leave());
    // Before the input loses the focus.
    this.#list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.#list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.#choose(option.dataset.value);
    });
  }

  get #opened() {
    return !this.#list.hidden;
  }

  /** What is chosen, in words. */
  #show() {
    const { value, selectedOptions } = this.#select;
    this.#input.value = value ? value : "";
    this.#input.placeholder = value ? "" : (selectedOptions[0]?.label ?? "");
  }

  #open(query) {
    const found = matches([...this.#select.options], query);
    this.#list.replaceChildren(...found.map((option, index) => this.#line(option, index)));
    this.#list.hidden = found.length === 0;
    this.#input.setAttribute("aria-expanded", String(found.length > 0));
    this.#status.textContent = word("matches").replace("{found}", found.length).replace("{all}", this.#select.options.length);
    const chosen = found.findIndex(({ value }) => value === this.#select.value);
    this.#activate(query ? 0 : chosen);
  }

  #line(option, index) {
    const line = make("li");
    const { name = option.label, detail = "" } = option.dataset;
    this.#set(line, { role: "option", id: `${this.#list.id}-${index}`, "aria-selected": String(option.selected), "data-value": option.value });
    line.append(make("bdi", "", name), " ", make("span", "ga-choice-detail", detail));
    return line;
  }

  #activate(index) {
    const lines = this.#list.children;
    lines[this.#active]?.classList.remove("ga-active");
    this.#active = lines.length > 0 ? Math.min(index, lines.length - 1) : -1;
    const line = lines[this.#active];
    line?.classList.add("ga-active");
    if (line) this.#input.setAttribute("aria-activedescendant", line.id);
    else this.#input.removeAttribute("aria-activedescendant");
    if (line) this.#list.scrollTop = line.offsetTop - (this.#list.clientHeight - line.offsetHeight) / 2;
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const last = this.#list.children.length - 1;
      if (!this.#opened) this.#open("");
      else this.#activate(this.#active + step < 0 ? last : this.#active + step > last ? 0 : this.#active + step);
    } else if (event.key === "Enter" && this.#opened) {
      event.preventDefault();
      const line = this.#list.children[this.#active];
      if (line) this.#choose(line.dataset.value);
    } else if (event.key === "Escape" && (this.#opened || this.#input.value !== this.#select.value)) {
      event.preventDefault();
      this.#close();
      this.#show();
    }
  }

  /** A name typed to its end is chosen; half a name is not, and the field shows again what was chosen before. */
  #leave() {
    const typed = folded(this.#input.value.trim());
    const named = [...this.#select.options].find(({ value }) => folded(value) === typed);
    if (named && named.value !== this.#select.value) this.#choose(named.value);
    this.#close();
    this.#show();
  }

  #choose(value) {
    this.#close();
    const changed = value !== this.#select.value;
    this.#select.value = value;
    this.#show();
    if (changed) this.#select.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #close() {
    this.#list.hidden = true;
    this.#activate(-1);
    this.#input.setAttribute("aria-expanded", "false");
    this.#status.textContent = "";
  }
}

/** Case, accents and kinds of digits do not matter. */
export function folded(text) {
  return text.toLowerCase().normalize("NFKD").replaceAll(/\p{M}/gu, "").replaceAll(/[\u0660-\u0669\u06F0-\u06F9]/g, (digit) => String(digit.codePointAt(0) & 15));
}

/** Those that hold every word, in any order; names that begin with the first word come first. */
function matches(options, query) {
  const words = folded(query).split(/[\s,·]+/).filter(Boolean);
  const text = (option) => folded(`${option.value} ${option.label}`);
  const found = options.filter((option) => words.every((one) => text(option).includes(one)));
  if (words.length === 0) return found;
  const early = (option) => text(option).startsWith(words[0]);
  return [...found.filter(early), ...found.filter((option) => !early(option))];
}
