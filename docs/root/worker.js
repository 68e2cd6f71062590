// Service worker: keeps the site for use without a network. CONTRIBUTING tells the design; scripts/site_files/offline.py fills in
// the three constants, so this file changes whenever a kept file does, and that is how a browser notices a new version.

const VERSION = "{version}";
// Addresses as seen from this file: what every page may load, and the pages with a calculator, by language.
const FILES = {files};
const PAGES = {pages};

const PREFIX = "gradaccum-site-";
const CACHE = PREFIX + VERSION;
// Such names change with the content, so what is kept under them is never out of date.
const NAMED_BY_CONTENT = /\/assets\/ga-[0-9a-f]{8}\/|\.[0-9a-f]{8}\.min\.(?:css|js)$/;
// Fetched once in a hundred visits, checked and kept by the page itself (docs/assets/js/kept.mjs).
const NOT_OURS = /\/pyodide\//;
// How long the network may take before a kept page is shown in place of the one asked for.
const PATIENCE = 4000;

self.addEventListener("install", (event) => event.waitUntil(keep(FILES)));
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

const kept = async (address) => (await caches.open(CACHE)).match(keyOf(address));

async function store(address, response) {
  if (isGood(response)) await (await caches.open(CACHE)).put(keyOf(address), response);
}

/** All of them or, where one fails, an error; what is kept already is not fetched again. */
async function keep(addresses) {
  await Promise.all(addresses.map(async (address) => {
    if (await kept(address)) return;
    const known = NAMED_BY_CONTENT.test(keyOf(address));
    const response = (known && (await caches.match(keyOf(address)))) || (await fetch(address, known ? {} : { cache: "no-cache" }));
    if (!isGood(response)) throw new Error(`${address}: HTTP ${response.status}`);
    await store(address, response);
  }));
}

/** Runs when no page of the older version is open any more: until then its worker and its cache serve it. */
async function dropOlder() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)));
}

async function fromCache({ request }) {
  return (await kept(request.url)) ?? fetchAndStore(request);
}

async function fromNetwork(event) {
  const { request } = event;
  const fresh = fetchAndStore(request);
  // A late answer is stored all the same.
  event.waitUntil(fresh.catch(() => {}));
  const mine = await kept(request.url);
  if (!mine) return fresh;
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE, mine));
  return Promise.race([fresh, late]).catch(() => mine);
}

async function fetchAndStore(request) {
  const response = await fetch(request);
  if (isGood(response)) await store(request.url, response.clone());
  return response;
}
