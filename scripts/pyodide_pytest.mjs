// Run pytest inside Pyodide on the project's tests, against the wheel that the site serves.
//
//   node scripts/pyodide_pytest.mjs PACKAGE_FOLDER TOOLS_FOLDER PROGRAM [ARGUMENT ...]
//
// PACKAGE_FOLDER holds the wheel and its lock file, as on the site. TOOLS_FOLDER is a site-packages with pytest.
// PROGRAM is the Python file to run, with its arguments, from the project's root.
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { loadPyodide } from "pyodide";

// Only these, not the whole folder: what has compiled parts must not be found by accident.
const TOOLS = ["_pytest", "pytest", "pluggy", "iniconfig", "packaging", "pygments"];
const ROOT = fileURLToPath(new URL("..", import.meta.url));

// Node would print the line that threw, and the runtime is one line of a million characters.
process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(3);
});

const [packages, tools, program, ...argv] = process.argv.slice(2);
const pyodide = await loadPyodide({
  lockFileContents: await readFile(join(packages, "lock.json"), "utf8"),
  packageBaseUrl: `${resolve(packages)}/`,
  env: { HOME: "/project", PYTHONDONTWRITEBYTECODE: "1" },
  stdout: (line) => console.log(line),
  stderr: (line) => console.error(line),
});
const loaded = await pyodide.loadPackage("gradaccum", { messageCallback: () => {} });
if (loaded.length !== 1) throw new Error(`the wheel in ${packages} was not loaded`);

pyodide.mountNodeFS("/project", ROOT);
pyodide.FS.mkdir("/tools");
pyodide.FS.writeFile("/tools/py.py", await readFile(join(tools, "py.py")));
for (const name of TOOLS) pyodide.mountNodeFS(`/tools/${name}`, join(tools, name));
pyodide.globals.set("argv", pyodide.toPy([program, ...argv]));
process.exitCode = pyodide.runPython(`
import os, runpy, sys
sys.path.append("/tools")
sys.argv = argv
os.chdir("/project")
try:
    runpy.run_path(argv[0], run_name="__main__")
    status = 0
except SystemExit as end:
    status = end.code
int(status or 0)
`);
