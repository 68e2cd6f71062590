// Has the browser keep the site, so that it works without a network; CONTRIBUTING tells the design, docs/root/worker.js is the rest.

import { isSparing, whenIdle } from "./line.mjs";

// This folder's name changes with its content, see scripts/site_files/versions.py.
const shared = new URL("../", import.meta.url);
const root = new URL("../../", shared);

/** The page that is shown was built with these scripts. */
export function isOfThisVersion() {
  const named = document.querySelector('meta[name="ga-base"]');
  return !named || new URL(named.content, document.baseURI).href === shared.href;
}

/** Keep what the pages of this language need. A browser that cannot, or a reader who saves data, goes without. */
export function keepForOffline() {
  if (!navigator.serviceWorker || isSparing()) return;
  whenIdle(async () => {
    try {
      await navigator.serviceWorker.register(new URL("worker.js", root), { scope: root.href });
      const { active } = await navigator.serviceWorker.ready;
      active.postMessage({ keep: document.documentElement.lang });
    } catch (failure) {
      console.info("The site is not kept for use without a network:", failure);
    }
  });
}
