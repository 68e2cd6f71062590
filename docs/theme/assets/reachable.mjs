// The theme builds parts of a page in the browser and leaves them without what keyboards and screen readers need.

const repairs = {
  // A landmark for each copy button would crowd out the page's own, so the box is no landmark.
  ".md-code__nav": (box) => box.setAttribute("role", "none"),
  // What scrolls must be reachable by keyboard.
  ".md-typeset__scrollwrap, pre > code, div.arithmatex, .ga-loop": (box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  },
};

function repair() {
  for (const [selector, apply] of Object.entries(repairs)) document.querySelectorAll(selector).forEach(apply);
}

let waiting = false;
function soon() {
  if (waiting) return;
  waiting = true;
  // Behind the paint, where sizes are known: before it each question would have the page laid out once more.
  requestAnimationFrame(() =>
    setTimeout(() => {
      waiting = false;
      repair();
    }),
  );
}

new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", soon);
repair();
