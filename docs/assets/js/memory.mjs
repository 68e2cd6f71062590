// The memory of the interpreter as it is once the package is imported, written down by this browser after its first start: from
// then on Python wakes up in it, which spares the start, the unpacking of its library and the compiling of the package.
// Nobody downloads it, and no digest of it is known beforehand; gzip's own checksum tells whether it is what was written.

import { version } from "./pyodide-release.mjs";

const PREFIX = "gradaccum-memory-";
// The folder of shared files is named by its content, the package and these scripts among it. A browser's new version may run
// Python otherwise, and Pyodide itself refuses the memory of another build.
const [build] = new URL("../", import.meta.url).pathname.split("/").slice(-2);
const CACHE = `${PREFIX}${version}-${build}`;
const address = new URL(`/${CACHE}/${encodeURIComponent(navigator.userAgent)}`, import.meta.url).href;
// So that the reader's first questions are not kept waiting.
const REST = 3000;

/** The bytes that this browser wrote, or null. */
export async function readMemory() {
  try {
    // A browser told to keep nothing may throw at the very name.
    const kept = globalThis.caches && (await caches.has(CACHE)) && (await (await caches.open(CACHE)).match(address));
    if (!kept) return null;
    const unpacked = kept.body.pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(unpacked).arrayBuffer());
  } catch (failure) {
    console.info("The memory of Python could not be read:", failure);
    await forgetMemory();
    return null;
  }
}

/** Keep it, in the place of every other one. A full disk only means that it is not kept. */
export async function keepMemory(memory) {
  try {
    if (!globalThis.caches || !globalThis.CompressionStream) return;
    await new Promise((resolve) => setTimeout(resolve, REST));
    await dropAll();
    const packed = new Blob([memory]).stream().pipeThrough(new CompressionStream("gzip"));
    await (await caches.open(CACHE)).put(address, new Response(packed));
  } catch (failure) {
    console.info("The memory of Python is not kept:", failure);
  }
}

/** What Python cannot wake up in is of no use to the next visit either. */
export async function forgetMemory() {
  try {
    await dropAll();
  } catch (failure) {
    console.info("The memory of Python could not be dropped:", failure);
  }
}

async function dropAll() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX)).map((name) => caches.delete(name)));
}
