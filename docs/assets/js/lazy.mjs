// Third-party files that stand beside this site, each loaded once and only when needed.

const base = new URL("../", import.meta.url);
const begun = new Map();

function once(address, load) {
  if (!begun.has(address)) {
    const loading = load().catch((failure) => {
      begun.delete(address); // The next call tries again.
      throw failure;
    });
    begun.set(address, loading);
  }
  return begun.get(address);
}

function element(name, attributes) {
  return new Promise((resolve, reject) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.addEventListener("load", () => resolve(), { once: true });
    made.addEventListener("error", () => reject(new Error(`${attributes.src ?? attributes.href} did not load`)), { once: true });
    document.head.append(made);
  });
}

const script = (path) => once(path, () => element("script", { src: new URL(path, base).href }));

/** Instant navigation may take a stylesheet out of the head again, so its presence is asked for each time. */
function stylesheet(path) {
  const href = new URL(path, base).href;
  if ([...document.styleSheets].some((sheet) => sheet.href === href)) return Promise.resolve();
  return element("link", { rel: "stylesheet", href });
}

export async function katex() {
  await Promise.all([script("katex/katex.min.js"), stylesheet("katex/katex.min.css")]);
  return globalThis.katex;
}

export async function plot() {
  await script("plot/d3.min.js"); // Plot's UMD build reads the global d3 as it loads.
  await script("plot/plot.umd.min.js");
  return globalThis.Plot;
}
