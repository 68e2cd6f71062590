"""The tables of the page, as HTML."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from string import ascii_lowercase
from typing import Any

from evidence.cells import Cell, cells
from evidence.measured import GIB
from evidence.predictions import GROUPS, Prediction, answer, in_group, predictions, summary
from evidence.words import catalogue, say
from gradaccum import figures
from gradaccum.training import PHASES
from page_parts.markup import left_to_right, tag, text
from paths import ROOT

CALCULATORS = ROOT / "docs" / "data" / "calculators.csv"
BOUND = Fraction(1, 100)
"""How far a peak may be from PyTorch's to count as within."""
MODEL = {"model": "llama-3-8b", "sequence_length": 4096, "micro_batch": 1}
OURS: dict[str, dict[str, Any]] = {
    "one": {},
    "many": {"accumulation_steps": 4},
    "eager": {"attention": "eager"},
    "checkpointing": {"accumulation_steps": 4, "checkpointing": "full"},
}


def share(part: Fraction | float, *, signed: bool = False) -> str:
    """A part of a hundred, with one decimal."""
    number = f"{float(part) * 100:{'+' if signed else ''}.1f}"
    # A rounded nothing has no sign.
    return number.replace("-", "−").replace("−0.0", "0.0").replace("+0.0", "0.0") + " %"


def table(heads: Sequence[str], bodies: Iterable[str], language: str, *, name: str | None = None) -> str:
    """A table, left out of the search. With a ``name`` it is a long one, in a box that scrolls and can be reached by keys."""
    head = tag("tr", *(tag("th", text(say(f"col.{key}", language)), scope="col") for key in heads))
    if name is None:
        return tag("div", tag("table", tag("thead", head), *bodies), data_search_exclude=True)
    content = tag("table", tag("thead", head), *bodies, class_="ga-rows")
    box = {"class_": "ga-evidence", "role": "region", "tabindex": "0", "aria_label": name}
    return tag("div", content, **box, data_search_exclude=True)


def body(rows: Iterable[Sequence[str]]) -> str:
    """Rows whose cells are HTML already."""
    return tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))


def latin(value: object) -> str:
    """Data in Latin letters or digits."""
    return left_to_right(value) if value != "" else ""


LATIN_RUN = re.compile(r"[A-Za-z0-9](?:[ -~]*[A-Za-z0-9])?")


def worded(words: str, language: str) -> str:
    """A sentence; in Arabic what it holds of names and quantities keeps its own order.

    >>> worded("في المصدر 1.34 GB.", "ar")
    'في المصدر <bdi dir="ltr">1.34 GB</bdi>.'
    """
    return text(words) if language == "en" else LATIN_RUN.sub(lambda run: left_to_right(run[0]), words)


def summaries(language: str) -> str:
    """One line for each kind of memory."""
    rows = []
    for group in GROUPS:
        found, total = summary(group), len(in_group(group))
        errors = ["", "", ""]
        if found:
            ends = f"{share(found.low, signed=True)} … {share(found.high, signed=True)}"
            errors = [share(found.median), share(found.nine_in_ten), ends]
        count = found.count if found else 0
        rows.append([text(say(f"group.{group}", language)), *map(latin, [total, count, *errors])])
    return table(("kind", "rows", "computed", "median", "nine", "range"), [body(rows)], language)


def published(group: str, language: str) -> str:
    """The rows of one kind of memory under their sources, folded away."""
    found = in_group(group)
    # What a reader looks for first stands first; the rest is reached by scrolling.
    run = ("a", "g", "precision", "optimizer", "checkpointing", "attention")
    heads = ("model", "method", "s", "b", "published", "predicted", "error", "why", *run)
    bodies = []
    for source, rows in groupby(found, key=lambda prediction: prediction.row.source):
        over = tag("tr", tag("th", latin(source), colspan=len(heads), scope="rowgroup"))
        lines = [tag("tr", *(tag("td", cell) for cell in published_cells(row, language))) for row in rows]
        bodies.append(tag("tbody", over, *lines))
    title = say("rows_of", language, kind=say(f"group.{group}", language), count=len(found))
    return folded(title, table(heads, bodies, language, name=title), opened=group == "allocated")


def published_cells(prediction: Prediction, language: str) -> list[str]:
    """One row's cells."""
    row, error = prediction.row, prediction.error
    method = f"{row.method}, r = {row.rank}" if row.rank not in ("", "?") else row.method
    said = figures.format_size(row.published, "binary") if row.published else row.measured_gib
    whys = prediction.remarks if prediction.reason is None else (prediction.reason,)
    peak = prediction.peak
    return [
        *map(latin, (row.model, method, row.seq, row.micro_batch, said)),
        text(say("not_computed", language)) if peak is None else latin(figures.format_size(peak, "binary")),
        "" if error is None else latin(share(error, signed=True)),
        " ".join(tag("a", LETTERS[why], href=f"#why-{why}") for why in whys),
        *map(latin, (row.accum, row.gpus, row.precision, row.optimizer, row.checkpointing, row.attention)),
    ]


def _letters() -> dict[str, str]:
    """A letter for each remark and a number for each reason, in the order of the words."""
    remarks, reasons = (
        [key.partition(".")[2] for key in catalogue() if key.startswith(f"{kind}.")] for kind in ("remark", "reason")
    )
    return dict(zip(remarks, ascii_lowercase, strict=False)) | {key: str(place) for place, key in enumerate(reasons, 1)}


LETTERS = _letters()


def whys(kind: str, language: str) -> str:
    """What the letters mean: those of ``remark`` or of ``reason`` that a row has."""
    used = {why for found in predictions() for why in (*found.remarks, found.reason) if why}
    entries = [key for key in catalogue() if key.startswith(f"{kind}.") and key.partition(".")[2] in used]
    lines = []
    for key in entries:
        name = key.partition(".")[2]
        count = sum(name in (*found.remarks, found.reason) for found in predictions())
        words = say(key, language) + " " + say("times", language, count=count)
        lines.append(tag("li", tag("strong", latin(LETTERS[name])), " ", worded(words, language), id=f"why-{name}"))
    return tag("ul", *lines, class_="ga-whys")


def folded(title: str, content: str, *, opened: bool = False) -> str:
    """Content behind its title."""
    return tag("details", tag("summary", text(title)), content, open=opened)


def models() -> list[tuple[str, list[Cell]]]:
    """The recorded cells by model, in the order of the recordings; a model recorded twice is one."""
    names = dict.fromkeys(cell.model for cell in cells())
    return [(model, [cell for cell in cells() if cell.model == model]) for model in names]


def oracle_summary(language: str) -> str:
    """One line for each recorded model: cells, points, difference, and the largest deviation of each phase's peak."""
    rows = []
    for model, found in models():
        within = sum(cell.worst <= BOUND for cell in found)
        peaks = [share(max(cell.peaks[phase] for cell in found)) for phase in range(len(PHASES))]
        difference = f"{max(cell.difference for cell in found):,} B"
        line = [model, len(found), sum(cell.points for cell in found), difference, f"{within} / {len(found)}"]
        rows.append([latin(value) for value in (*line, *peaks)])
    heads = ("model", "cells", "points", "difference", "within", *PHASES)
    return table(heads, [body(rows)], language, name=say("oracle", language))


def oracle_cells(language: str) -> str:
    """Every recorded cell, folded away by model."""
    heads = ("attention", "checkpointing", "precision", "method", "points", "saved", "difference", *PHASES)
    parts = []
    for model, found in models():
        lines = "".join(_cell_line(cell) for cell in found)
        title = say("cells_of", language, model=model, cells=len(found))
        parts.append(folded(title, table(heads, [tag("tbody", lines, dir="ltr")], language, name=title)))
    return "".join(parts)


def _cell_line(cell: Cell) -> str:
    attention = f"{cell.attention}, padded" if cell.padded else cell.attention
    values = [
        attention,
        cell.checkpointing,
        cell.precision,
        cell.method,
        cell.points,
        f"{cell.saved:,}",
        f"{cell.difference:,}",
    ]
    return tag("tr", *(tag("td", text(value)) for value in (*values, *map(share, cell.peaks))))


def others(language: str) -> str:
    """Other calculators on one model, and this site's own answers among them."""
    rows = []
    for name, inputs in OURS.items():
        peak = answer(MODEL | inputs)["peak"]
        rows.append((peak, say("ours.name", language), say("peer.ours", language, what=say(f"ours.{name}", language))))
    states = answer(MODEL)
    peak = sum(states[part] for part in ("weights", "gradients", "optimizer_states"))
    rows.append((peak, say("ours.name", language), say("peer.ours", language, what=say("ours.states", language))))
    with CALCULATORS.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            peak = round(float(line["total_gib"]) * GIB)
            rows.append((peak, line["tool"], say(f"peer.{line['words']}", language)))
    ordered = sorted(rows, key=lambda row: row[0])
    cells = [[text(tool), latin(figures.format_size(peak, "binary")), worded(why, language)] for peak, tool, why in ordered]
    return table(("tool", "total", "reason"), [body(cells)], language)
