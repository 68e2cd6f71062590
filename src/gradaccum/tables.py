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
    # What is the same in every line needs no column.
    same = {key for key in SETTINGS if len(rows) > 1 and len({row.get(key) for row in rows}) == 1}
    keys = [key for key in rows[0] if key != "parts" and key not in same]
    parts = list(rows[0].get("parts", {}))
    heads = [text(f"column.{key}", language) for key in keys] + [text(f"column.{key}", language) for key in parts]
    cells = [
        [_cell(key, row[key], language, system) for key in keys]
        + [_cell(key, row["parts"][key], language, system) for key in parts]
        for row in rows
    ]
    return {"columns": heads, "rows": cells, "numeric": [key not in WORDS for key in (*keys, *parts)]}


SWITCHES = ("method", "optimizer", "checkpointing", "loss", "sharding")
SETTINGS = {*SWITCHES, "effective_batch", "replicas"}
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
    """The same, a line a row."""
    found = table(rows, language, system)
    return "\n".join("  ".join(cell for cell in row if cell) for row in found["rows"])


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
