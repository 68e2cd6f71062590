// Start Pyodide from what this browser kept, from the CDN, or from the copy that stands beside this site.

import { canVerify, download } from "./download.mjs";
import { readKept } from "./kept.mjs";
import { cdn, files } from "./pyodide-release.mjs";

const LOADER = "pyodide.mjs";
const MODULE = "pyodide.asm.mjs";
const NEEDED = { [LOADER]: "text/javascript", [MODULE]: "text/javascript", "pyodide.asm.wasm": "application/wasm", "python_stdlib.zip": "application/zip" };

// Compiling and starting takes one to three seconds on a laptop; a weak phone may need ten times that.
const START_LIMIT = 60_000;

/**
 * Get Pyodide's files: those that were kept, else from the CDN, or else from the copy.
 * @param {string} copy address of the folder with the same-origin copy, ending in "/"
 * @returns {Promise<{root: string, bytes: Map<string, Uint8Array>, source: "kept" | "cdn" | "site"}>}
 */
export async function fetchRuntime(copy) {
  const kept = await readKept(Object.keys(NEEDED));
  if (kept) return { source: "kept", root: copy, bytes: kept };
  const places = [{ source: "site", root: copy }];
  // Without digests a file from another host cannot be checked, so then it is not asked for either.
  if (canVerify) places.unshift({ source: "cdn", root: cdn });
  const failures = [];
  for (const { source, root } of places) {
    try {
      return { source, root, bytes: await fetchFiles(root) };
    } catch (failure) {
      console.warn(`Pyodide did not come from ${root}:`, failure);
      failures.push(failure);
    }
  }
  throw new Error(failures.map((failure) => failure.message).join("; "));
}

/** All files at once; the first that fails ends the others, so that a blocked host costs one attempt and no more. */
async function fetchFiles(root) {
  const others = new AbortController();
  const fetched = Object.keys(NEEDED).map(async (name) => {
    const integrity = canVerify ? files[name].integrity : undefined;
    return [name, await download(root + name, { integrity, signal: others.signal })];
  });
  try {
    return new Map(await Promise.all(fetched));
  } catch (failure) {
    others.abort(failure);
    throw failure;
  }
}

/**
 * Start it; `options` is what loadPyodide is given beside the files.
 */
export async function startPyodide({ root, bytes }, options) {
  const addressOf = (name) => URL.createObjectURL(new Blob([bytes.get(name)], { type: NEEDED[name] }));
  const load = async (name) => {
    const address = addressOf(name);
    try {
      return await import(address);
    } finally {
      URL.revokeObjectURL(address);
    }
  };
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([load(LOADER), load(MODULE)]);
  const giveBack = serveFetched(root, bytes);
  try {
    // loadPyodide never settles when the WebAssembly module cannot be instantiated: it only logs a warning.
    return await within(START_LIMIT, loadPyodide({ ...options, indexURL: root, createPyodideModule }));
  } finally {
    giveBack();
  }
}

/** While Pyodide starts, its own requests are answered with the bytes that were checked, and it gets no others from `root`. */
function serveFetched(root, bytes) {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const address = String(input instanceof Request ? input.url : input);
    if (!address.startsWith(root)) return real(input, init);
    const name = address.slice(root.length);
    if (!bytes.has(name)) throw new TypeError(`${address} was not fetched beforehand`);
    return new Response(bytes.get(name), { headers: { "content-type": NEEDED[name] } });
  };
  return () => {
    globalThis.fetch = real;
  };
}

/** The promise's outcome, or an error after `limit` milliseconds. */
function within(limit, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limit} ms`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
