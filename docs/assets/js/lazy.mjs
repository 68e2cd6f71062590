// Third-party files that stand beside this site, each loaded once and only when needed.

const base = new URL("../", import.meta.url);
const begun = new Map();

function script(path) {
  const address = new URL(path, base).href;
  if (!begun.has(address)) {
    const loading = load(address).catch((failure) => {
      begun.delete(address); // The next call tries again.
      throw failure;
    });
    begun.set(address, loading);
  }
  return begun.get(address);
}

function load(src) {
  return new Promise((resolve, reject) => {
    const made = Object.assign(document.createElement("script"), { src });
    made.addEventListener("load", () => resolve(), { once: true });
    made.addEventListener("error", () => reject(new Error(`${src} did not load`)), { once: true });
    document.head.append(made);
  });
}

export async function katex() {
  await script("katex/katex.min.js"); // Its style is part of every page's stylesheet.
  return globalThis.katex;
}

export async function plot() {
  await script("plot/d3.min.js"); // Plot's UMD build reads the global d3 as it loads.
  await script("plot/plot.umd.min.js");
  return globalThis.Plot;
}
