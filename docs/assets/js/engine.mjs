// The page's side of the worker: one worker for the life of the page, through every instant navigation.

const ALIVE_LIMIT = 8000;
// The slowest answer takes about a second on a laptop; a weak phone may need ten times that.
const ANSWER_LIMIT = 20_000;

let worker = null;
let booting = null;
let number = 0;
let patience = null;
const waiting = new Map();

/** Python ran, and then it did not: the network has no part in that. */
export class Stopped extends Error {}

/** Where Pyodide came from ("kept", "cdn" or "site"), or "memory" where this browser kept a started one; null until it runs. */
export let source = null;

/** Python has answered at least once and still runs. */
export const isReady = () => source !== null;

/**
 * Start Python, once. A failed start is forgotten, so that the next call tries again.
 * @returns {Promise<void>}
 */
export function boot() {
  booting ??= start().catch((failure) => {
    stop(failure);
    throw failure;
  });
  return booting;
}

/**
 * Ask the package. Text in, text out: `gradaccum.api.run` itself.
 * @param {string} request
 * @returns {Promise<string>}
 */
export async function run(request) {
  await boot();
  number += 1;
  const id = number;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker.postMessage({ kind: "run", id, text: request });
    if (waiting.size === 1) awaitNext();
  });
}

function start() {
  return new Promise((resolve, reject) => {
    const mine = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
    worker = mine;
    const dead = setTimeout(() => reject(new Error("the worker did not start")), ALIVE_LIMIT);
    mine.addEventListener("error", (event) => {
      clearTimeout(dead);
      const failure = new (isReady() ? Stopped : Error)(event.message || "the worker could not be loaded");
      reject(failure);
      // One that broke after it had started must not end its successor.
      if (worker === mine) stop(failure);
    });
    mine.addEventListener("message", ({ data }) => {
      if (data.kind === "alive") clearTimeout(dead);
      else if (data.kind === "failed") reject(new Error(data.reason));
      else if (data.kind === "answer") settle(data);
      else {
        source = data.source;
        resolve();
      }
    });
    mine.postMessage({ kind: "boot" });
  });
}

/** A worker that the system has killed says nothing. One at work answers its questions in turn. */
function awaitNext() {
  clearTimeout(patience);
  if (waiting.size > 0) patience = setTimeout(() => stop(new Stopped(`no answer within ${ANSWER_LIMIT} ms`)), ANSWER_LIMIT);
}

function settle({ id, text, reason }) {
  // The package answers whatever it is asked; when it could not, memory ran out or Python broke, and only a new one will do.
  if (reason !== undefined) {
    stop(new Stopped(reason));
    return;
  }
  const { resolve } = waiting.get(id);
  waiting.delete(id);
  awaitNext();
  resolve(text);
}

function stop(failure) {
  clearTimeout(patience);
  worker?.terminate();
  worker = null;
  booting = null;
  source = null;
  for (const { reject } of waiting.values()) reject(failure);
  waiting.clear();
}
