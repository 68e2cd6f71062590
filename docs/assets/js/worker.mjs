// Module worker: Python with this project's package. JSON text comes in, JSON text goes out, nothing else crosses the border:
// Python's integers above 2^53 would arrive as bigint, None as undefined, and dicts as proxies that must be destroyed.

import { download } from "./download.mjs";
import { keep } from "./kept.mjs";
import { fetchRuntime, startPyodide, within } from "./runtime.mjs";

const PACKAGE = "gradaccum";
const WHEEL_LIMIT = 10_000;

let run;

async function boot() {
  const base = new URL("../", import.meta.url);
  const packageBaseUrl = new URL("python/", base).href;
  const [lockFileContents, runtime] = await Promise.all([
    readLock(`${packageBaseUrl}lock.json`),
    fetchRuntime(new URL("pyodide/", base).href),
  ]);
  const pyodide = await startPyodide(runtime, { lockFileContents, packageBaseUrl });
  await loadWheel(pyodide);
  run = pyodide.pyimport(`${PACKAGE}.api`).run;
  if (runtime.source !== "kept") keep(runtime.bytes);
  return runtime.source;
}

/** Lock and wheel stand in a folder whose name changes with them, so no cache can pair those of two builds. */
async function readLock(address) {
  return JSON.parse(new TextDecoder().decode(await download(address)));
}

async function loadWheel(pyodide) {
  const problems = [];
  const quiet = { messageCallback: () => {}, errorCallback: (message) => problems.push(message) };
  // loadPackage does not throw when a wheel is missing: it resolves to the list of what it did load.
  const loaded = await within(WHEEL_LIMIT, pyodide.loadPackage(PACKAGE, quiet));
  if (!loaded.some(({ name }) => name === PACKAGE)) throw new Error(problems.join("; ") || `${PACKAGE} did not load`);
}

self.addEventListener("message", async ({ data }) => {
  if (data.kind === "boot") {
    try {
      self.postMessage({ kind: "ready", source: await boot() });
    } catch (failure) {
      self.postMessage({ kind: "failed", reason: String(failure?.message ?? failure) });
    }
  } else {
    try {
      self.postMessage({ kind: "answer", id: data.id, text: run(data.text) });
    } catch (failure) {
      self.postMessage({ kind: "answer", id: data.id, reason: String(failure?.message ?? failure) });
    }
  }
});

self.postMessage({ kind: "alive" });
