// Pyodide's files, kept by this browser from the first time they were needed: the next start downloads nothing, with or without
// a network. They are kept here and not by the service worker, so that their digests are checked each time, whichever host they came from.

import { canVerify, verify } from "./download.mjs";
import { files, version } from "./pyodide-release.mjs";

const PREFIX = "gradaccum-pyodide-";
const CACHE = PREFIX + version;

/** All files by name, or null where one is missing or is not what it should be. */
export async function readKept(names) {
  try {
    // A browser told to keep nothing may throw at the very name.
    if (!canVerify || !globalThis.caches || !(await caches.has(CACHE))) return null;
    const cache = await caches.open(CACHE);
    const found = await Promise.all(names.map(async (name) => [name, await readOne(cache, name)]));
    // A reader who left while they were being kept has some of them, and nothing is wrong.
    return found.every(([, bytes]) => bytes) ? new Map(found) : null;
  } catch (failure) {
    console.info("Pyodide is fetched anew:", failure);
    return null;
  }
}

async function readOne(cache, name) {
  const response = await cache.match(addressOf(name));
  if (!response) return null;
  const bytes = new Uint8Array(await response.arrayBuffer());
  await verify(bytes, files[name].integrity, name);
  return bytes;
}

/** Keep what was downloaded and checked, in the place of every other version. A full disk only means that it is not kept. */
export async function keep(bytes) {
  try {
    if (!canVerify || !globalThis.caches) return;
    for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
    const cache = await caches.open(CACHE);
    await Promise.all([...bytes].map(([name, content]) => cache.put(addressOf(name), new Response(content))));
  } catch (failure) {
    console.info("Pyodide is not kept:", failure);
  }
}

/** An address that nothing is ever fetched from, and that stays when the site changes. */
const addressOf = (name) => new URL(`/${CACHE}/${name}`, import.meta.url).href;
