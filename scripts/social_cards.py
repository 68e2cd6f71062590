"""Pictures made while the site is built: the icons, and for each page a card that others show beside a link.

``main(site)`` writes ``icon-192.png``, ``icon-512.png`` and ``icon-maskable-512.png`` beside their SVG, and the card of each
page to the address that the page names in ``og:image``. What was drawn before is taken from build/cards.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from html import escape, unescape
from pathlib import Path
from urllib.parse import urlsplit

from page_parts.node import run_node
from paths import BUILD, DOCS, NODE_MODULES, ROOT, SHARED_ASSETS

CACHE = BUILD / "cards"
RENDER = ROOT / "scripts" / "render.mjs"
IMAGES = DOCS / "assets" / "images"
STYLES = DOCS / "assets" / "css"
ICONS = {
    "icon-192.png": ("icon.svg", 192),
    "icon-512.png": ("icon.svg", 512),
    "icon-maskable-512.png": ("icon-maskable.svg", 512),
}
WIDTH, HEIGHT, SIDE = 1200, 630, 80
TITLE_SIZES = (72, 60, 50)
MOST_TITLE_LINES = 3
TEXT_SIZE, TEXT_LINES = 30, 3
LETTER = 0.49
"""Mean width of a letter over the size of the type: a little more than either script needs."""
META = re.compile(r'<meta (?:property|name)="(og:\w+|description)" content="([^"]*)">')
MARK = (
    '<g fill="none" stroke-width="2.6" stroke-linejoin="round" stroke-linecap="round">'
    '<path stroke="{ink}" d="M3 20 9 7v13l6-13v13l6-13v13M3 26h18"/>'
    '<path stroke="{accent}" d="M27.5 26V9m-3.5 4 3.5-4.4L31 13"/></g>'
)


def main(site: str | Path) -> None:
    """Finish the built site in that folder."""
    site = Path(site)
    images = site / SHARED_ASSETS / "images"
    wanted = {images / name: ((IMAGES / source).read_text(encoding="utf-8"), width) for name, (source, width) in ICONS.items()}
    for language in ("ar", "en"):
        for page in sorted((site / language).rglob("index.html")):
            said = {name: unescape(content) for name, content in META.findall(page.read_text(encoding="utf-8"))}
            place = site / language / urlsplit(said["og:image"]).path.split(f"/{language}/", 1)[1]
            wanted[place] = (card(said["og:title"], said["description"], said["og:site_name"], rtl=language == "ar"), WIDTH)
    provide(wanted)


def provide(wanted: dict[Path, tuple[str, int]]) -> None:
    """Every file, rendered where it was not before, all by one Node process."""
    if not (NODE_MODULES / "@resvg" / "resvg-wasm").exists():
        print("Icons and cards are left out, because npm packages are missing; `npm ci` brings them.")
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    salt = RENDER.read_bytes() + (ROOT / "package-lock.json").read_bytes()
    kept = {
        place: CACHE / f"{hashlib.sha256(salt + f'{width} {svg}'.encode()).hexdigest()}.png"
        for place, (svg, width) in wanted.items()
    }
    missing = {kept[place]: {"svg": svg, "width": width} for place, (svg, width) in wanted.items() if not kept[place].exists()}
    if missing:
        run_node(RENDER, [request | {"out": str(out)} for out, request in missing.items()])
    for place, source in kept.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)


def card(title: str, description: str, site_name: str, *, rtl: bool) -> str:
    """The drawing: whose page, its title, what it tells, and one window as a saw-tooth under the memory there is."""
    colours = palette()
    size, lines = fitted(title)
    edge = WIDTH - SIDE if rtl else SIDE
    y = 200 + (MOST_TITLE_LINES - len(lines)) * 10
    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{colours["soft"]}"/>']
    mark = MARK.format(ink=colours["ink"], accent=colours["accent"])
    parts.append(f'<g transform="translate({WIDTH - SIDE - 60 if rtl else SIDE - 5} 48) scale(2)">{mark}</g>')
    parts.append(line(site_name, (edge + (-85 if rtl else 85), 92), f'font-size="34" fill="{colours["ink"]}"', rtl=rtl))
    for row in lines:
        parts.append(line(row, (edge, y), f'font-size="{size}" font-weight="700" fill="{colours["ink"]}"', rtl=rtl))
        y += round(size * 1.35)
    room = (WIDTH - 2 * SIDE) / (TEXT_SIZE * LETTER)
    for row in shortened(wrapped(description, room), min(TEXT_LINES, (525 - y) // 46)):
        parts.append(line(row, (edge, y), f'font-size="{TEXT_SIZE}" fill="{colours["ink-soft"]}"', rtl=rtl))
        y += 46
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="IBM Plex Sans Arabic">'
        f"{''.join(parts)}{saw_tooth(colours)}</svg>"
    )


def saw_tooth(colours: dict[str, str]) -> str:
    """Teeth along the lower edge, and the limit that none of them reaches."""
    tooth, top = 150, HEIGHT - 74
    teeth = "".join(f"M{x} {HEIGHT}L{x + tooth * 0.35:g} {top}L{x + tooth} {HEIGHT}Z" for x in range(0, WIDTH, tooth))
    limit = f'<path d="M0 {top - 18}H{WIDTH}" stroke="{colours["capacity"]}" stroke-width="4" stroke-dasharray="18 9"/>'
    return f'<path d="{teeth}" fill="{colours["activations"]}"/>{limit}'


def line(text: str, place: tuple[float, float], look: str, *, rtl: bool) -> str:
    """One line of text; isolated, so that Latin names inside Arabic keep their places."""
    isolated, anchor = (f"\u2067{text}\u2069", "end") if rtl else (text, "start")
    return f'<text x="{place[0]:g}" y="{place[1]:g}" text-anchor="{anchor}" {look}>{escape(isolated)}</text>'


def fitted(title: str) -> tuple[int, list[str]]:
    """The largest type in which a title stands in its lines."""
    tries = [(size, wrapped(title, (WIDTH - 2 * SIDE) / (size * LETTER))) for size in TITLE_SIZES]
    size, lines = next((one for one in tries if len(one[1]) <= MOST_TITLE_LINES), tries[-1])
    return size, shortened(lines, MOST_TITLE_LINES)


def wrapped(text: str, room: float) -> list[str]:
    """Lines of at most that many letters.

    >>> wrapped("a batch that each update learns from", 16)
    ['a batch that', 'each update', 'learns from']
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def shortened(lines: list[str], most: int) -> list[str]:
    """The first lines, the last with a sign that there are more."""
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1]} …"]


def palette() -> dict[str, str]:
    """The colours of the light scheme, from the style sheets."""
    sheets = "".join((STYLES / name).read_text(encoding="utf-8") for name in ("site.css", "calculator.css"))
    found: dict[str, str] = {}
    for name, colour in re.findall(r"--ga-([\w-]+): (#[0-9a-f]{6});", sheets):
        found.setdefault(name, colour)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
