// The start of Python and the package with and without a memory snapshot, in seconds of processor time, and what a snapshot
// weighs. Node.js and not a browser: here no line, no digest and no other page takes part. Prints JSON.
// Arguments: the folder with the wheel and its lock file, as on the site.

import { readFileSync } from "node:fs";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { loadPyodide } from "../../node_modules/pyodide/pyodide.mjs";

const FILES = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"];
const ROUNDS = 3;
const ARCHIVE = "/lib/gradaccum.zip";

const folder = process.argv[2];
const lockFileContents = JSON.parse(readFileSync(`${folder}/lock.json`, "utf8"));
const wheel = readFileSync(`${folder}/${lockFileContents.packages.gradaccum.file_name}`);

async function spent(task) {
  const before = process.cpuUsage();
  const result = await task();
  const { user, system } = process.cpuUsage(before);
  return [Math.round((user + system) / 1000), result];
}

async function start(options) {
  const pyodide = await loadPyodide({ lockFileContents, packageBaseUrl: `${folder}/`, ...options });
  pyodide.FS.writeFile(ARCHIVE, wheel);
  if (!options._loadSnapshot) pyodide.runPython(`import sys; sys.path.append("${ARCHIVE}"); import gradaccum.api`);
  return pyodide;
}

const packed = (bytes) => gzipSync(bytes, { level: 6 }).length;
const median = (values) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)];

const [, first] = await spent(() => start({ _makeSnapshot: true }));
const snapshot = first.makeMemorySnapshot();
const ordinary = [];
const restored = [];
for (let round = 0; round < ROUNDS; round += 1) {
  ordinary.push((await spent(() => start({})))[0]);
  restored.push((await spent(() => start({ _loadSnapshot: snapshot })))[0]);
}
const files = FILES.map((name) => readFileSync(new URL(`../../node_modules/pyodide/${name}`, import.meta.url)));
const found = {
  ordinary: median(ordinary),
  restored: median(restored),
  snapshot_bytes: snapshot.length,
  snapshot_packed: packed(snapshot),
  files_packed: files.map(packed).reduce((sum, size) => sum + size),
};
console.log(JSON.stringify(found));
process.exit(0);
