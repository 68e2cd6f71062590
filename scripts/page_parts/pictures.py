"""Pictures drawn at build time by the module that also draws them in the browser."""

from __future__ import annotations

import hashlib
import json
from html import escape
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from page_parts.answers import PageError, ask, calculator_named, word
from page_parts.markup import prose, tag, text
from page_parts.node import run_node
from paths import ROOT

DRAW = ROOT / "scripts" / "draw.mjs"
CACHE = ROOT / "build" / "pictures"
LOOP = ROOT / "docs" / "snippets" / "loop.py"
# Which line of the loop a phase of the window lights.
LIT = {
    "zero_grad": "zero_grad(",
    "forward": "loss_function(model(",
    "backward": ".backward()",
    "update": "optimizer.step()",
}
STEPS = ("first", "previous", "next", "play")


def picture_html(name: str, picture: str, language: str, *, stepper: bool = False, inputs: dict[str, Any] | None = None) -> str:
    """A figure. Without ``inputs`` it belongs to the page's calculator and is redrawn as the reader types."""
    pictures = ask(name, language, inputs)["view"].get("pictures", {})
    if picture not in pictures:
        raise PageError(f"{name} draws no {picture!r} for {inputs or 'its starting values'}")
    data = pictures[picture]
    payload = json.dumps(data, ensure_ascii=False)
    svg, table = draw(picture, data, language)
    caption = tag("figcaption", prose(data["summary"]))
    parts = [tag("div", svg, class_="ga-drawing"), caption, behind_html(table, data, language)]
    if stepper:
        parts.append(stepper_html(language))
    # Not a script: after an instant navigation the theme re-creates scripts in the page without their attributes.
    parts.append(tag("div", escape(payload, quote=False), class_="ga-data", hidden=True, data_search_exclude=True))
    return tag(
        "figure",
        *parts,
        class_="ga-picture",
        data_calculator=calculator_named(name).name,
        data_picture=picture,
        data_live="true" if inputs is None else "false",
        data_search_exclude=True,
    )


def behind_html(table: str, data: dict[str, Any], language: str) -> str:
    """The numbers behind a picture, folded: one key away."""
    summary = tag("summary", text(word("ui.picture_table", language)))
    box = tag("div", table, class_="ga-table", tabindex="0", role="region", aria_label=data["title"])
    return tag("details", summary, box, class_="ga-behind")


def draw(picture: str, data: dict[str, Any], language: str) -> list[str]:
    """The SVG and the table of its numbers, a line each; drawn anew only when the data or a drawing module has changed."""
    words = {"total": word("ui.table_total", language)}
    request = {"picture": picture, "data": data, "language": language, "words": words}
    digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode())
    modules = ROOT / "docs" / "assets" / "js"
    for source in (DRAW, *sorted(modules.glob("picture*.mjs")), ROOT / "package-lock.json"):
        digest.update(source.read_bytes())
    kept = CACHE / f"{digest.hexdigest()}.svg"
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        kept.write_text(run_node(DRAW, request), encoding="utf-8")
    return kept.read_text(encoding="utf-8").strip().split("\n")


def stepper_html(language: str) -> str:
    """Buttons that walk through the window, and the loop whose lines they light."""
    buttons = [tag("button", text(word(f"ui.{step}", language)), type="button", data_action=step) for step in STEPS]
    return tag(
        "div",
        tag("div", *buttons, class_="ga-buttons"),
        tag("p", class_="ga-phase-name", role="status"),
        tag("p", text(word("ui.loop", language)), class_="ga-caption"),
        loop_html(LOOP.read_text(encoding="utf-8")),
        class_="ga-stepper",
    )


def loop_html(source: str) -> str:
    """The loop, each line in a span that a step can light."""
    coloured = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n").split("\n")
    lines, seen = [], set()
    for plain, html in zip(source.rstrip("\n").split("\n"), coloured, strict=True):
        line = next((phase for phase, mark in LIT.items() if mark in plain), None)
        seen.add(line)
        lines.append(tag("span", html, class_="ga-line", data_line=line))
    if missing := set(LIT) - seen:
        raise PageError(f"{LOOP.name} has no line for {', '.join(sorted(missing))}")
    return tag("pre", "&#10;".join(lines), class_="ga-loop highlight", dir="ltr", tabindex="0")
