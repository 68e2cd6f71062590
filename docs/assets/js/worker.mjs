// Module worker: Python with this project's package. JSON text comes in, JSON text goes out, nothing else crosses the border:
// Python's integers above 2^53 would arrive as bigint, None as undefined, and dicts as proxies that must be destroyed.

import { canVerify, download } from "./download.mjs";
import { keep } from "./kept.mjs";
import { forgetMemory, keepMemory, readMemory } from "./memory.mjs";
import { fetchRuntime, startPyodide } from "./runtime.mjs";

const PACKAGE = "gradaccum";
// Where Python finds the package, as it came: it imports from an archive, and unpacking it would take as long as reading it.
const ARCHIVE = `/lib/${PACKAGE}.zip`;

let run;

/** Start Python from the memory that this browser kept, or else from the beginning. Tells where Pyodide came from. */
async function boot() {
  const packageBaseUrl = new URL("../python/", import.meta.url).href;
  const [{ lockFileContents, archive }, runtime, memory] = await Promise.all([
    fetchPackage(packageBaseUrl),
    fetchRuntime(new URL("../pyodide/", import.meta.url).href),
    readMemory(),
  ]);
  const start = async (options) => {
    const pyodide = await startPyodide(runtime, { lockFileContents, packageBaseUrl, ...options });
    // Files are no part of the memory.
    pyodide.FS.writeFile(ARCHIVE, archive);
    return pyodide;
  };
  if (memory) {
    try {
      run = runOf(await start({ _loadSnapshot: memory }));
      return "memory";
    } catch (failure) {
      console.info("Python starts from the beginning:", failure);
      await forgetMemory();
    }
  }
  const pyodide = await start({ _makeSnapshot: true });
  pyodide.runPython(`import sys; sys.path.append("${ARCHIVE}"); import ${PACKAGE}.api`);
  // Before anything is asked, so that nothing that a reader typed is in it.
  const fresh = memoryOf(pyodide);
  run = runOf(pyodide);
  if (runtime.source !== "kept") keep(runtime.bytes);
  if (fresh) keepMemory(fresh);
  return runtime.source;
}

/** What the next start may wake up in, or null: that it cannot be written down is no reason not to start. */
function memoryOf(pyodide) {
  try {
    return pyodide.makeMemorySnapshot();
  } catch (failure) {
    console.info("The memory of Python could not be written down:", failure);
    return null;
  }
}

/** Lock and wheel stand in a folder whose name changes with them, so no cache can pair those of two builds. */
async function fetchPackage(folder) {
  const lockFileContents = JSON.parse(new TextDecoder().decode(await download(`${folder}lock.json`)));
  const { file_name, sha256 } = lockFileContents.packages[PACKAGE];
  const digest = sha256.match(/../g).map((pair) => String.fromCharCode(parseInt(pair, 16)));
  const integrity = canVerify ? `sha256-${btoa(digest.join(""))}` : undefined;
  return { lockFileContents, archive: await download(folder + file_name, { integrity }) };
}

/** The package's function, once it has answered: that it understood nothing, in words that it had to look up. */
function runOf(pyodide) {
  const { run: found } = pyodide.pyimport(`${PACKAGE}.api`);
  if (JSON.parse(found("{}")).ok !== false) throw new Error(`${PACKAGE} does not answer`);
  return found;
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
