"""What a recorded dry run found, as tables, figures and a picture of the page."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from gradaccum import dryrun, figures, view
from gradaccum.calculators.declaration import Answer, Values
from gradaccum.dryrun import picture
from gradaccum.messages import text as message
from page_parts.answers import PageError
from page_parts.markup import code_block, left_to_right, tag, text
from paths import DOCS

RECORDING = DOCS / "snippets" / "my_model.json"
"""Written by ``scripts/record_dry_run.py``; ``make verify`` runs the same command again and compares."""

ROLES = {colour: kind.replace("_", "-") for kind, colour in picture.COLOURS.items()} | {
    picture.LINE: "alive",
    picture.INK: "ink",
    picture.SOFT: "soft",
    picture.FAINT: "faint",
}
"""What each colour of the picture stands for: the page has others in the dark."""

WIDTHS = {"wide": picture.WIDTH, "narrow": 360}


@cache
def recorded() -> dict[str, Any]:
    """``command``: the words of the command line; ``outputs``: what it found."""
    found: dict[str, Any] = json.loads(RECORDING.read_text(encoding="utf-8"))
    return found


def command_html() -> str:
    """The command line that was recorded."""
    return code_block(" ".join(["gradaccum", "dry-run", *recorded()["command"]]) + "\n", "sh")


def figure_html(name: str) -> str:
    """One size that was found, or a part of the plan: ``plan.fixed_memory``."""
    value = recorded()["outputs"]
    for part in name.split("."):
        if part not in value:
            raise PageError(f"the recorded dry run has no {name!r}")
        value = value[part]
    return left_to_right(figures.format_size(value, "binary"))


def plan() -> dict[str, int]:
    """What the planner takes."""
    found = recorded()["outputs"]["plan"]
    return {name: found[name] for name in ("activation_per_sample", "fixed_memory")}


def result_html(language: str) -> str:
    """The report: single figures in one table, then a table for each list."""
    answer = Answer(recorded()["outputs"], system="binary")
    outputs = view.view(dryrun.CALCULATOR, Values({}), answer, language, {})["outputs"]
    single = [[text(output["label"]), tag("bdi", text(output["text"]), dir="ltr")] for output in outputs if not output["table"]]
    parts = [_table([], single)]
    for output in outputs:
        if output["table"]:
            cells = [
                [tag("bdi", text(cell), dir="ltr" if number else "auto") for cell, number in zip(row, numeric, strict=True)]
                for row, numeric in ((row, output["table"]["numeric"]) for row in output["table"]["rows"])
            ]
            parts += [tag("p", tag("strong", text(output["label"]))), _table(output["table"]["columns"], cells)]
    return "".join(parts)


def _table(heads: list[str], rows: list[list[str]]) -> str:
    head = [tag("thead", tag("tr", *(tag("th", text(head), scope="col") for head in heads)))] if heads else []
    body = tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
    return tag("div", tag("table", *head, body), class_="ga-table", tabindex="0")


def picture_html(language: str) -> str:
    """The saw-tooth as ``--plot`` draws it, for a desk and for a phone; its words stand around it, where they can wrap."""
    outputs = recorded()["outputs"]
    title = text(message("picture.dry_run.title", language, peak=figures.format_size(outputs["peak"], "binary")))
    drawings = tag("div", *(_drawing(outputs, title, name, width) for name, width in WIDTHS.items()), class_="ga-drawing")
    kinds = [tag("li", _swatch(kind), text(message(f"picture.dry_run.{kind}", language))) for kind in picture.COLOURS]
    caption = tag("figcaption", text(message("picture.dry_run.time", language)))
    return tag(
        "figure",
        tag("p", title, class_="ga-caption"),
        drawings,
        tag("ul", *kinds, class_="ga-legend"),
        caption,
        class_="ga-dry-run",
    )


def _drawing(outputs: dict[str, Any], title: str, name: str, width: int) -> str:
    """One drawing, cut to the plot and half a line of letters around it."""
    box = f"0 {picture.TOP - 8} {width} {picture.HEIGHT - picture.BOTTOM - picture.TOP + 16}"
    parts = _named("".join(picture.saw_tooth(outputs, width)))
    return f'<svg class="ga-svg ga-{name}" viewBox="{box}" {picture.LOOK} aria-label="{title}">{parts}</svg>'


def _swatch(kind: str) -> str:
    return _named(
        f'<svg viewBox="0 0 12 12" aria-hidden="true"><rect width="12" height="12" fill="{picture.COLOURS[kind]}"/></svg>'
    )


def _named(svg: str) -> str:
    """The drawing with a class for what each colour stands for."""
    return re.sub(
        r'<(\w+)(?P<rest>[^>]*? (?:fill|stroke)="(?P<colour>#\w{6})")',
        lambda match: f'<{match[1]} class="ga-{ROLES[match["colour"]]}"{match["rest"]}',
        svg,
    )
