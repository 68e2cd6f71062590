// The quiz: turns each printed question with its folded answers into buttons that answer at once.
// Whatever the reader chose is kept in this browser, where it allows that; without scripts the page stays as it was printed.

import { make } from "./dom.mjs";
import { word } from "./words.mjs";

const KEY = "ga-quiz";
let forgetful = {}; // what is kept where the browser keeps nothing

export function enhanceQuiz() {
  const questions = [...document.querySelectorAll(".ga-question")];
  if (questions.length === 0 || document.querySelector(".ga-choice")) return;
  const all = questions.map((element) => new Question(element));
  const score = new Score(document.querySelector(".ga-score"), all);
  const given = load();
  for (const question of all) {
    for (const choice of given[question.id] ?? []) question.choose(choice);
    question.announce();
    question.onChoice = () => {
      save(Object.fromEntries(all.filter((one) => one.chosen.length > 0).map((one) => [one.id, one.chosen])));
      score.show();
    };
  }
  score.show();
}

class Question {
  id;
  chosen = [];
  onChoice = () => {};
  #right;
  #buttons;
  #reasons;
  #feedback;

  constructor(element) {
    const heading = element.querySelector("h3");
    const details = element.querySelector("details");
    const choices = element.querySelector(":scope > ol");
    this.id = heading.id;
    this.#right = Number(element.dataset.right) - 1;
    this.#reasons = [...details.querySelectorAll("li")];
    this.#buttons = [...choices.children].map((item, index) => this.#button(item, index));
    this.#feedback = make("div", "ga-feedback");
    choices.setAttribute("aria-labelledby", heading.id);
    choices.setAttribute("role", "list"); // a list without numbers is no list to some readers
    details.hidden = true;
    details.after(this.#feedback);
  }

  /** From here on the feedback is spoken; what was restored is not. */
  announce() {
    this.#feedback.setAttribute("role", "status");
  }

  get isRightAtOnce() {
    return this.chosen[0] === this.#right;
  }

  choose(index) {
    if (!(index in this.#buttons) || this.chosen.includes(index) || this.chosen.includes(this.#right)) return;
    this.chosen.push(index);
    const isRight = index === this.#right;
    mark(this.#buttons[index], isRight);
    if (isRight) for (const button of this.#buttons) button.setAttribute("aria-disabled", "true");
    // Cloned: with the answers started over, the reasons are needed again.
    this.#feedback.replaceChildren(...this.#reasons[index].cloneNode(true).childNodes);
    this.#feedback.dataset.right = String(isRight);
    this.onChoice();
  }

  clear() {
    this.chosen = [];
    this.#feedback.replaceChildren();
    delete this.#feedback.dataset.right;
    for (const button of this.#buttons) unmark(button);
    this.onChoice();
  }

  #button(item, index) {
    const button = make("button", "ga-choice");
    button.type = "button";
    button.append(...item.childNodes);
    button.addEventListener("click", () => this.choose(index));
    item.append(button);
    return button;
  }
}

/** Disabled for the eye and the ear only: a button that is really disabled would lose the keyboard's place. */
function mark(button, isRight) {
  button.setAttribute("aria-disabled", "true");
  button.dataset.right = String(isRight);
  button.append(make("span", "ga-unseen", ` (${word(isRight ? "quiz_right" : "quiz_wrong")})`));
}

function unmark(button) {
  button.removeAttribute("aria-disabled");
  delete button.dataset.right;
  button.querySelector(".ga-unseen:last-child")?.remove();
}

class Score {
  #questions;
  #text;
  #again = make("button", "md-button", word("quiz_again"));

  constructor(element, questions) {
    this.#questions = questions;
    this.#text = element.querySelector("p");
    this.#again.type = "button";
    this.#again.addEventListener("click", () => {
      for (const question of questions) question.clear();
      element.focus();
    });
    element.append(this.#again);
  }

  show() {
    const answered = this.#questions.filter((one) => one.chosen.length > 0);
    const figures = { answered: answered.length, all: this.#questions.length, right: answered.filter((one) => one.isRightAtOnce).length };
    this.#text.textContent = word("quiz_score").replace(/\{(\w+)\}/g, (_, name) => figures[name]);
    this.#again.hidden = answered.length === 0;
  }
}

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const usable = Object.entries(kept).filter(([, choices]) => Array.isArray(choices));
    return Object.fromEntries(usable);
  } catch {
    return forgetful;
  }
}

function save(given) {
  forgetful = given;
  try {
    localStorage.setItem(KEY, JSON.stringify(given));
  } catch {
    // Private windows and strict settings refuse; the answers then last as long as the page.
  }
}

if (globalThis.document$) document$.subscribe(enhanceQuiz);
else enhanceQuiz();
