// The browser forgets the memory of a start, and keeps Pyodide's files.
caches.keys().then(async (names) => {
  for (const name of names) if (name.startsWith("gradaccum-memory-")) await caches.delete(name);
  return "forgotten";
})
