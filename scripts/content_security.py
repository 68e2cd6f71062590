"""What a page may load and run, said in the page itself: hosts such as GitHub Pages let nobody add headers.

``main(site)`` comes after every step that writes into pages. It reads every page, refuses what no strict policy can allow
(``style`` attributes, event handlers in the markup, addresses that are code), and writes one policy into all of them. The
policy is one and the same because a page that the theme fetched by itself runs its scripts under the policy of the page that
the reader opened first.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

from vendor import RELEASE

# Blocks of data are no scripts to a browser, so no policy speaks of them.
DATA = {"application/json", "application/ld+json"}
ADDRESSES = {"href", "src", "action", "formaction", "xlink:href"}
SCRIPTS = "script-src 'self'"
# frame-ancestors has no effect in a page; the rest a page cannot say.
EVERYWHERE = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
CHARSET = '<meta charset="utf-8">'


def main(site: Path) -> None:
    """Give every page of the site its policy."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(pages.values())}">'
    for path, html in pages.items():
        if html.count(CHARSET) != 1:
            raise ValueError(f"{path}: expected once: {CHARSET}")
        # Before anything else: a policy does not reach back to what stands above it.
        path.write_text(html.replace(CHARSET, CHARSET + meta), encoding="utf-8")
    (worker,) = site.glob("assets/*/js/worker.mjs")
    (site / "_headers").write_text(headers(worker.relative_to(site).as_posix()), encoding="utf-8")


def headers(worker: str) -> str:
    """The file in which Netlify, Cloudflare Pages and their like look for headers: what a page cannot say about itself.

    Where two rules meet, hosts send both values and browsers obey both, so the policy of all pages stands in the pages alone.
    """
    rules = {"/*": EVERYWHERE, f"/{worker}": {"Content-Security-Policy": worker_policy()}}
    return "".join(
        "".join([f"{path}\n", *(f"  {name}: {value}\n" for name, value in given.items())]) for path, given in rules.items()
    )


def allowing(html: bytes, script: bytes) -> bytes:
    """The page with one inline script more that its policy allows, which the development server needs."""
    return html.replace(SCRIPTS.encode(), f"{SCRIPTS} {digest(script.decode())}".encode(), 1)


def policy(pages: Iterable[str]) -> str:
    """The strictest policy under which these pages work, as the header or the meta element holds it.

    A page itself asks its own host only. The worker that runs Python is a file of its own, so this policy is not the worker's:
    there alone the CDN is asked, and WebAssembly compiled (see ``headers``).
    """
    scripts, styles = set[str](), set[str]()
    for html in pages:
        inline = Inline()
        inline.feed(html)
        scripts |= {digest(text) for text in inline.scripts}
        styles |= {digest(text) for text in inline.styles}
    return "; ".join(
        [
            "default-src 'none'",
            " ".join([SCRIPTS, *sorted(scripts)]),
            " ".join(["style-src 'self'", *sorted(styles)]),
            # The theme's icons are addresses that hold the picture.
            "img-src 'self' data:",
            *(
                f"{kind} 'self'"
                for kind in ("font-src", "connect-src", "worker-src", "manifest-src", "form-action", "base-uri")
            ),
            "object-src 'none'",
        ]
    )


def worker_policy() -> str:
    """What the worker needs that runs Python: its parts as blobs that were checked before, WebAssembly, the CDN."""
    cdn = re.search(r'^export const cdn = "([^"]+)";$', RELEASE.read_text(encoding="utf-8"), re.MULTILINE)
    if cdn is None:
        raise ValueError(f"{RELEASE}: it names no CDN")
    return f"default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'; connect-src 'self' {cdn[1]}"


def digest(text: str) -> str:
    """The name under which a policy allows a text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


class Inline(HTMLParser):
    """The scripts and styles that stand in a page, letter for letter; raises ValueError at what cannot be allowed by name."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._open: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where an inline script or style begins."""
        given = dict(attrs)
        for name, value in given.items():
            code = name in ADDRESSES and (value or "").strip().lower().startswith("javascript:")
            if name == "style" or name.startswith("on") or code:
                raise ValueError(f"no policy can allow this by name: <{tag} {name}={value!r}>, line {self.getpos()[0]}")
        self._open = None
        if tag == "style":
            self._open = self.styles
        elif tag == "script" and "src" not in given and given.get("type") not in DATA:
            self._open = self.scripts
        if self._open is not None:
            self._open.append("")

    def handle_data(self, data: str) -> None:
        """Take the text over."""
        if self._open is not None:
            self._open[-1] += data

    def handle_endtag(self, _tag: str) -> None:
        """Whatever it is, it is over."""
        self._open = None
