"""Outputs that are lists of objects, as the columns and cells of a table in words."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from gradaccum import figures
from gradaccum.messages import choice_text, text
from gradaccum.units import System

Row = dict[str, Any]


def table(rows: Sequence[Row], language: str, system: System) -> dict[str, Any]:
    """``columns``: heads in words; ``rows``: cells as text; ``numeric``: which columns hold figures, for their alignment."""
    keys = [key for key in rows[0] if key != "parts"]
    parts = list(rows[0].get("parts", {}))
    heads = [text(f"column.{key}", language) for key in keys] + [text(f"column.{key}", language) for key in parts]
    cells = [
        [_cell(key, row[key], language, system) for key in keys]
        + [_cell(key, row["parts"][key], language, system) for key in parts]
        for row in rows
    ]
    return {"columns": heads, "rows": cells, "numeric": [key not in WORDS for key in (*keys, *parts)]}


SWITCHES = ("method", "optimizer", "checkpointing", "loss", "sharding")
WORDS = {
    "phase",
    "module",
    "operation",
    "slot",
    "dtype",
    "shape",
    "why",
    "experiment",
    "inputs",
    "outputs",
    "policy",
    *SWITCHES,
}
COUNTS = {
    "times",
    "parameters",
    "micro_batch",
    "accumulation_steps",
    "effective_batch",
    "replicas",
    "updates",
    "left_out",
    "mixed_updates",
}
NAMED = {"phase": "phase_name", "policy": "policy"}
"""Columns whose cells are named by a message, and the stem of it."""


def as_text(rows: Sequence[Row], language: str, system: System) -> str:
    """The same in lines of text, a row each, under their heads."""
    found = table(rows, language, system)
    lines = [found["columns"], *found["rows"]]
    widths = [max(map(figures.width, column)) for column in zip(*lines, strict=True)]
    padded = ([cell + " " * (w - figures.width(cell)) for cell, w in zip(line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in padded)


def _cell(key: str, value: Any, language: str, system: System) -> str:
    if key in NAMED:
        return text(f"{NAMED[key]}.{value}", language)
    if isinstance(value, list | tuple):
        return (" × " if key == "shape" else ", ").join(map(str, value))
    if key in SWITCHES:
        return choice_text(key, value, language)
    if key in COUNTS:
        return figures.format_count(value)
    if isinstance(value, Fraction):
        return figures.format_number(value, 4)
    return figures.format_size(value, system) if isinstance(value, int) else str(value)
