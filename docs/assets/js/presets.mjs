// Links that put a case into the form of their page: they change the address, and the calculator follows the address.

/**
 * The theme would follow such a link by itself, without the event that a changed address brings, so it never sees the click.
 * Listening before everything else on the page is what keeps it from that.
 */
export function enablePresets() {
  document.addEventListener("click", follow, { capture: true });
}

function follow(event) {
  const link = event.target.closest?.("a.ga-preset");
  if (!link || event.button > 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  location.hash = new URL(link.href).hash;
}
