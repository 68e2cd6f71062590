// Step through the saw-tooth: a cursor on the picture, the phase in words, the line of the loop that runs lit.
// Everything it needs stands in the page, so it works before Python has loaded, and without it.

import { word } from "./words.mjs";

const BEAT = 1100;
const positions = new WeakMap(); // figure -> index of its segment, or -1 before the first step
const clocks = new WeakMap();
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function enableSteppers() {
  for (const stepper of document.querySelectorAll(".ga-picture .ga-stepper")) enableStepper(stepper.closest(".ga-picture"));
}

function enableStepper(figure) {
  if (positions.has(figure)) return;
  positions.set(figure, -1);
  const stepper = figure.querySelector(".ga-stepper");
  stepper.addEventListener("click", (event) => {
    const action = event.target.closest("[data-action]")?.dataset.action;
    if (action) act(figure, action);
  });
  stepper.addEventListener("keydown", (event) => byKey(figure, event));
  const fit = () => {
    button(figure, "play").hidden = calm.matches;
    if (calm.matches) pause(figure);
  };
  calm.addEventListener("change", fit);
  fit();
  showSegments(figure);
}

/** Show the cursor again, after the picture has been drawn anew. */
export function showSegments(figure) {
  if (!positions.has(figure)) return;
  show(figure, Math.min(positions.get(figure), segments(figure).length - 1));
}

function act(figure, action) {
  const last = segments(figure).length - 1;
  const at = positions.get(figure);
  if (action === "play") {
    if (clocks.has(figure)) pause(figure);
    else play(figure);
    return;
  }
  pause(figure);
  if (action === "first") show(figure, 0);
  if (action === "previous") show(figure, Math.max(0, at - 1));
  if (action === "next") show(figure, at === last ? 0 : at + 1);
}

/** Arrows follow the time axis, which runs from left to right in both languages. */
function byKey(figure, event) {
  const action = { ArrowRight: "next", ArrowLeft: "previous", Home: "first" }[event.key];
  if (!action || !event.target.closest(".ga-buttons")) return;
  event.preventDefault();
  act(figure, action);
}

function play(figure) {
  const forward = () => {
    const at = positions.get(figure);
    const last = segments(figure).length - 1;
    if (!figure.isConnected || at === last) pause(figure);
    else show(figure, at + 1);
  };
  if (positions.get(figure) === segments(figure).length - 1) positions.set(figure, -1);
  clocks.set(figure, setInterval(forward, BEAT));
  name(figure, "pause");
  forward();
}

function pause(figure) {
  clearInterval(clocks.get(figure));
  clocks.delete(figure);
  name(figure, "play");
}

function name(figure, action) {
  const text = word(action);
  if (text) button(figure, "play").textContent = text;
}

function show(figure, index) {
  positions.set(figure, index);
  const segment = segments(figure)[index];
  for (const svg of figure.querySelectorAll("svg")) {
    svg.querySelectorAll(".ga-segments rect").forEach((mark, at) => mark.classList.toggle("ga-current", at === index));
  }
  for (const line of figure.querySelectorAll(".ga-line")) {
    const lit = segment !== undefined && segment.line === line.dataset.line;
    line.classList.toggle("ga-lit", lit);
    if (lit) line.setAttribute("aria-current", "step");
    else line.removeAttribute("aria-current");
  }
  const phase = figure.querySelector(".ga-phase-name");
  if (phase) phase.textContent = segment?.label ?? "";
}

const segments = (figure) => JSON.parse(figure.querySelector(".ga-data").textContent).segments;

const button = (figure, action) => figure.querySelector(`[data-action="${action}"]`);

if (globalThis.document$) document$.subscribe(enableSteppers);
else enableSteppers();
