// One calculator of a page: reads its form, asks Python, shows what comes back.

import { addressHolds, isCut, restoreFromAddress, writeAddress } from "./address.mjs";
import { enableSearch } from "./combobox.mjs";
import { enableCopying } from "./copy.mjs";
import { boot, isReady, run, Stopped } from "./engine.mjs";
import { clearErrors, showErrors } from "./errors.mjs";
import { enableFiles } from "./files.mjs";
import { commandFor, controls, readInputs, setText, startingText, textOf } from "./form.mjs";
import { redraw } from "./live-pictures.mjs";
import { enableObject } from "./object-field.mjs";
import { enablePrinting } from "./print.mjs";
import { quiet, showResult } from "./result.mjs";
import { enableSorting } from "./sorting.mjs";
import { word } from "./words.mjs";

const TYPING_PAUSE = 150;

export class LiveCalculator {
  section;
  #form;
  #name;
  #asked = 0; // Answers to any but the latest question are dropped.
  #pause;

  constructor(section) {
    this.section = section;
    this.#form = section.querySelector(".ga-form");
    this.#name = section.dataset.calculator;
    for (const output of section.querySelectorAll("output")) quiet(output);
    for (const box of section.querySelectorAll(".ga-table")) enableSorting(box);
    for (const field of section.querySelectorAll(".ga-field-object")) enableObject(field);
    for (const select of section.querySelectorAll("select[data-search]")) enableSearch(select);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.refresh();
    });
    this.#form.addEventListener("focusin", () => this.#warm(), { once: true });
    this.#form.addEventListener("input", () => this.#edited());
    section.querySelector('[data-action="retry"]')?.addEventListener("click", () => this.refresh());
    enableCopying(section, (format) => this.#textAs(format), (done, format) => this.#sayCopied(done, format));
    enablePrinting(section);
    this.#enableFiles();
  }

  /** Take the address's inputs over, where it holds some. */
  restore() {
    if (!addressHolds(this.#form, this.#name)) return;
    restoreFromAddress(this.#form);
    this.refresh();
  }

  /** Take the inputs of the calculator that stood here before over. */
  takeOver(earlier) {
    if (addressHolds(this.#form, this.#name)) {
      this.restore();
      return;
    }
    clearTimeout(earlier.#pause);
    const texts = new Map(controls(earlier.#form).map((control) => [control.name, textOf(control)]));
    for (const control of controls(this.#form)) setText(control, texts.get(control.name));
    if (controls(this.#form).some((control) => textOf(control) !== startingText(control))) this.refresh();
  }

  #edited() {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      writeAddress(this.#form, this.#name);
      this.refresh();
    }, TYPING_PAUSE);
  }

  /** The reader is about to type: have Python ready. A failure is only worth a word once there is something to compute. */
  #warm() {
    boot().catch(() => {});
  }

  async refresh() {
    clearTimeout(this.#pause);
    this.#asked += 1;
    const mine = this.#asked;
    if (!isReady()) this.#enter("loading", "loading");
    try {
      const answer = JSON.parse(await run(this.#request({ view: true })));
      if (mine === this.#asked) await this.#show(answer);
    } catch (failure) {
      console.warn(failure);
      if (mine === this.#asked) this.#enter("failed", failure instanceof Stopped ? "stopped" : "failed");
    }
  }

  async #show(answer) {
    if (!answer.ok) {
      showErrors(this.section, answer.errors);
      this.#enter("refused", "refused");
      return;
    }
    clearErrors(this.section);
    showResult(this.section, answer);
    this.#enableFiles();
    redraw(this.section, answer.view.pictures ?? {});
    this.#enter("ready", "updated");
  }

  #enter(state, saying) {
    this.section.dataset.state = state;
    this.#say(saying);
    const retry = this.section.querySelector(".ga-retry");
    retry.hidden = state !== "failed";
    if (state === "failed") retry.querySelector(".ga-command").textContent = commandFor(this.#form, this.#name, this.section.dataset.language);
  }

  #enableFiles() {
    enableFiles(this.section, (done) => this.#sayCopied(done));
  }

  #sayCopied(done, format) {
    if (!done) this.#say("copy_failed");
    else this.#say(format === "link" && isCut(this.#form) ? "copied_cut" : "copied");
  }

  #say(name) {
    this.section.querySelector(".ga-status").textContent = word(name);
  }

  /** The JSON is Python's own text: parsing it here would round integers above 2^53. */
  async #textAs(format) {
    if (!isReady()) this.#say("loading");
    if (format === "json") return run(this.#request());
    const answer = JSON.parse(await run(this.#request({ view: true })));
    if (!answer.ok) throw new Error("there is no result to copy");
    return answer.view[format];
  }

  #request(more = {}) {
    const request = { calculator: this.#name, inputs: readInputs(this.#form), language: this.section.dataset.language };
    return JSON.stringify({ ...request, ...more });
  }
}
