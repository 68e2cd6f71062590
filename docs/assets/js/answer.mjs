// Puts an answer into its calculator: fetched when the reader turns to a form, since the page holds its first result already.

import { clearErrors } from "./errors.mjs";
import { painted } from "./frames.mjs";
import { redraw } from "./live-pictures.mjs";
import { showFigures, showTables } from "./result.mjs";
import { renderSteps } from "./steps.mjs";

export { showErrors } from "./errors.mjs";

/**
 * First the figures, and what takes longer once they are painted, unless the reader typed on.
 * @param {HTMLElement} section a calculator
 * @param {object} answer one that is accepted
 * @param {() => boolean} isLatest whether no newer question came up
 * @param {() => void} settle called when figures, tables and files stand in the page
 */
export async function show(section, answer, isLatest, settle) {
  clearErrors(section);
  showFigures(section, answer);
  await painted();
  if (!isLatest()) return;
  showTables(section, answer);
  settle();
  // One that fails to load must not keep the other from coming.
  await Promise.all([renderSteps(section.querySelector(".ga-steps"), answer.steps, isLatest), redraw(section, answer.view.pictures ?? {}, isLatest)]);
}
