// Service worker: keeps the site for use without a network. CONTRIBUTING tells the design; scripts/site_files/offline.py fills in
// the three constants, so this file changes whenever a kept file does, and that is how a browser notices a new version.

const VERSION = "{version}";
// Addresses as seen from this file: what every page may load, and the pages with a calculator, by language.
const FILES = {files};
const PAGES = {pages};

const PREFIX = "gradaccum-site-";
const CACHE = PREFIX + VERSION;
// Such names change with the content, so what is kept under them is never out of date.
const NAMED_BY_CONTENT = /\/assets\/ga-[0-9a-f]{8}\/|\.[0-9a-f]{8}(?:\.min)?\.(?:css|js)$/;
// The folder of shared files, whose name every page of one build bears.
const BUILD = /\bassets\/ga-[0-9a-f]{8}\//;
const [THIS_BUILD] = FILES.map((address) => BUILD.exec(address)?.[0]).filter(Boolean);
// Fetched once in a hundred visits, checked and kept by the page itself (docs/assets/js/kept.mjs).
const NOT_OURS = /\/pyodide\//;
// How long the network may take before a kept page is shown in place of the one asked for.
const PATIENCE = 4000;

self.addEventListener("install", (event) => event.waitUntil(pagesKeptBefore().then((pages) => keep([...FILES, ...pages]))));
self.addEventListener("activate", (event) => event.waitUntil(dropOlder().then(() => self.clients.claim())));
self.addEventListener("message", (event) => event.waitUntil(keep(PAGES[event.data?.keep] ?? [])));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { href, pathname } = new URL(request.url);
  if (request.method !== "GET" || !href.startsWith(self.registration.scope) || NOT_OURS.test(pathname)) return;
  event.respondWith(NAMED_BY_CONTENT.test(pathname) ? fromCache(event) : fromNetwork(event));
});

/** A page is the same page whatever its query says. */
const keyOf = (address) => new URL(address, self.location).href.replace(/[?#].*/, "");

/** Never an error, a redirect or something that cannot be looked into. */
const isGood = (response) => response.ok && response.type === "basic" && !response.redirected;

/** A page of another build asks for files that are not kept here: it would stand in the place of one that works. */
async function isOfThisBuild(response) {
  if (!response.headers.get("content-type")?.startsWith("text/html")) return true;
  const named = BUILD.exec(await response.clone().text());
  return !named || named[0] === THIS_BUILD;
}

const kept = async (address) => (await caches.open(CACHE)).match(keyOf(address));

/** Whether it could be kept. */
async function store(address, response) {
  if (!isGood(response) || !(await isOfThisBuild(response))) return false;
  await (await caches.open(CACHE)).put(keyOf(address), response);
  return true;
}

/** All of them or, where one fails, an error; what is kept already is not fetched again. */
async function keep(addresses) {
  await Promise.all(addresses.map(async (address) => {
    if (await kept(address)) return;
    const known = NAMED_BY_CONTENT.test(keyOf(address));
    const response = (known && (await caches.match(keyOf(address)))) || (await fetch(address, known ? {} : { cache: "no-cache" }));
    if (!(await store(address, response))) throw new Error(`${address}: HTTP ${response.status}, or of another build`);
  }));
}

/** What an older version kept for a language, so that the reader does not lose it until a page of that language is opened again. */
async function pagesKeptBefore() {
  const calculators = Object.values(PAGES).map((pages) => pages.filter((page) => !FILES.includes(page)));
  const found = await Promise.all(calculators.map((pages) => Promise.all(pages.map((page) => caches.match(keyOf(page))))));
  return calculators.filter((_, index) => found[index].some(Boolean)).flat();
}

/** Runs when no page of the older version is open any more: until then its worker and its cache serve it. */
async function dropOlder() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)));
}

/** Whichever version kept it: a page that is newer than this worker finds its files where the next worker has put them. */
async function fromCache(event) {
  return (await caches.match(keyOf(event.request.url))) ?? fetchAndStore(event);
}

async function fromNetwork(event) {
  const fresh = fetchAndStore(event);
  // A late answer is stored all the same.
  event.waitUntil(fresh.catch(() => {}));
  const mine = await kept(event.request.url);
  if (!mine) return fresh;
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE, mine));
  return Promise.race([fresh, late]).catch(() => mine);
}

/** The reader does not wait for the disk, and a full one costs nothing but the copy. */
async function fetchAndStore(event) {
  const response = await fetch(event.request);
  event.waitUntil(store(event.request.url, response.clone()).catch(() => {}));
  return response;
}
