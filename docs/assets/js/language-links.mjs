// The theme leaves its header alone on an instant navigation, so the header's language link would keep pointing at the first page.

export function refreshLanguageLinks() {
  const other = document.querySelector('meta[name="ga-other"]');
  if (!other) return;
  for (const link of document.querySelectorAll("a.ga-language")) link.href = new URL(other.content, location.href).href;
}

// What the reader has typed goes along; read at the last moment, since the address changes without a navigation.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest("a.ga-language");
  if (link) link.hash = location.hash;
}, { capture: true });
