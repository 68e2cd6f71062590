// Which parts of Python the browser has kept, in one word: "files" once Pyodide's are there, "memory" once that of a start is too.
caches.keys().then(async (names) => {
  const count = async (prefix) => {
    const name = names.find((one) => one.startsWith(prefix));
    return name ? (await (await caches.open(name)).keys()).length : 0;
  };
  if ((await count("gradaccum-pyodide-")) < 4) return "nothing";
  return (await count("gradaccum-memory-")) ? "memory" : "files";
})
