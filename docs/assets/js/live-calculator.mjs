// One calculator of a page: reads its form, asks Python, shows what comes back.

import { addressHolds, isCut, restoreFromAddress, writeAddress } from "./address.mjs";
import { enableSearch } from "./combobox.mjs";
import { enableCopying } from "./copy.mjs";
import { quiet } from "./dom.mjs";
import { boot, isReady, run, Stopped } from "./engine.mjs";
import { enableFiles } from "./files.mjs";
import { commandFor, controls, readInputs, setText, startingText, textOf } from "./form.mjs";
import { enableObject } from "./object-field.mjs";
import { enablePrinting } from "./print.mjs";
import { enableSorting } from "./sorting.mjs";
import { word } from "./words.mjs";

// The page holds its first result, so what puts another into it comes with Python.
const answering = () => import("./answer.mjs");

// How long a reader rests before being told of a fault: half a number is none yet.
const TYPING_PAUSE = 150;

export class LiveCalculator {
  section;
  #form;
  #name;
  #asked = 0; // Answers to any but the latest question are dropped.
  #asking = false;
  #pause;
  #typing = false;
  #path = location.pathname;
  #untold = () => {};

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
      this.#rest();
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
    this.#catchUp();
  }

  /** Answer what was typed before these scripts had come. */
  #catchUp() {
    if (controls(this.#form).some((control) => textOf(control) !== startingText(control))) this.refresh();
  }

  /** Begin with what the page holds: the address's inputs, or the reader's. */
  begin() {
    if (addressHolds(this.#form, this.#name)) this.restore();
    else this.#catchUp();
  }

  /** A key was struck: a Python that runs is asked at once, one that has yet to start when the reader rests. */
  #edited() {
    clearTimeout(this.#pause);
    this.#typing = true;
    this.#pause = setTimeout(() => {
      this.#rest();
      if (!isReady()) this.refresh();
    }, TYPING_PAUSE);
    if (isReady()) this.refresh();
  }

  #rest() {
    clearTimeout(this.#pause);
    this.#typing = false;
    // Who left the page before resting has another page's address by now.
    if (location.pathname === this.#path) writeAddress(this.#form, this.#name);
    this.#untold();
    this.#untold = () => {};
  }

  /** Say it now, or when the reader rests; never what a newer question has overtaken. */
  #tell(saying) {
    if (this.#typing) this.#untold = saying;
    else saying();
  }

  /** The reader is about to type: have Python ready. A failure is only worth a word once there is something to compute. */
  #warm() {
    Promise.all([boot(), answering()]).catch(() => {});
  }

  /** Ask what the form holds. One question at a time: of those that came up meanwhile only the last is asked. */
  async refresh() {
    this.#asked += 1;
    this.#untold = () => {};
    if (!isReady()) this.#enter("loading", "loading");
    if (this.#asking) return;
    this.#asking = true;
    while ((await this.#ask()) !== this.#asked);
    this.#asking = false;
  }

  /** Ask once, and return which question that was: what was typed while Python started belongs to it. */
  async #ask() {
    let mine = this.#asked;
    try {
      const [{ show, showErrors }] = await Promise.all([answering(), boot()]);
      mine = this.#asked;
      const isLatest = () => mine === this.#asked;
      const answer = JSON.parse(await run(this.#request({ view: true })));
      if (!isLatest()) return mine;
      if (answer.ok) show(this.section, answer, isLatest, () => this.#settle()).catch(console.warn);
      else this.#tell(() => this.#refuse(() => showErrors(this.section, answer.errors)));
    } catch (failure) {
      console.warn(failure);
      if (mine === this.#asked) this.#enter("failed", failure instanceof Stopped ? "stopped" : "failed");
    }
    return mine;
  }

  #refuse(mark) {
    mark();
    this.#enter("refused", "refused");
  }

  /** The whole result stands in the page. */
  #settle() {
    this.#enableFiles();
    this.#enter("ready");
    this.#tell(() => this.#say("updated"));
  }

  #enter(state, saying) {
    this.section.dataset.state = state;
    if (saying) this.#say(saying);
    const retry = this.section.querySelector(".ga-retry");
    retry.hidden = state !== "failed";
    if (state === "failed") retry.querySelector(".ga-command").textContent = commandFor(this.#form, this.#name, this.section.dataset.language);
  }

  #enableFiles() {
    enableFiles(this.section, (done) => this.#sayCopied(done));
  }

  #sayCopied(done, format) {
    this.#rest(); // Else what waits to be said of the last key would come after this.
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
