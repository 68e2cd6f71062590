"""Outputs that are lists of objects, as the columns and cells of a table in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from gradaccum import figures
from gradaccum.messages import choice_text, has, text
from gradaccum.units import System

Row = dict[str, Any]

SWITCHES = ("method", "optimizer", "checkpointing", "loss", "sharding")
WORDS = {
    "phase",
    "module",
    "kept",
    "reason",
    "formula",
    "operation",
    "slot",
    "dtype",
    "shape",
    "why",
    "gpus",
    "experiment",
    "inputs",
    "outputs",
    "policy",
    *SWITCHES,
}
"""Columns that hold no figures."""
COUNTS = {
    "update",
    "times",
    "parameters",
    "trainable_parameters",
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


def table(rows: Sequence[Row], language: str, system: System, columns: Sequence[str] = ()) -> dict[str, Any]:
    """The rows in words; without ``columns`` every key of a row is one, and every key of its ``parts``.

    ``columns``: heads in words; ``keys``: their names; ``rows``: cells as text; ``numeric``: which columns hold figures;
    ``order``: the figures themselves, for sorting, and None for words.
    """
    flat = [{key: value for key, value in row.items() if key != "parts"} | row.get("parts", {}) for row in rows]
    keys = list(columns or flat[0])
    numeric = [key not in WORDS for key in keys]
    return {
        "columns": [text(f"column.{key}", language) for key in keys],
        "rows": [[_cell(key, row, language, system) for key in keys] for row in flat],
        "numeric": numeric,
        "keys": keys,
        "order": [[_rank(row[key]) if figure else None for key, figure in zip(keys, numeric, strict=True)] for row in flat],
    }


def as_text(found: dict[str, Any]) -> str:
    """A table in lines of text, a row each, under its heads."""
    lines = [found["columns"], *found["rows"]]
    widths = [max(map(figures.width, column)) for column in zip(*lines, strict=True)]
    padded = ([cell + " " * (w - figures.width(cell)) for cell, w in zip(line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in padded)


def _rank(value: int | Fraction) -> int | float:
    return value if isinstance(value, int) else float(value)


def _cell(key: str, row: Row, language: str, system: System) -> str:
    if key in CELLS:
        return CELLS[key](row, language)
    value = row[key]
    if key in NAMED:
        return text(f"{NAMED[key]}.{value}", language)
    if key in SWITCHES:
        return choice_text(key, value, language)
    return figures.format_count(value) if key in COUNTS else _plain(value, system)


def _plain(value: Any, system: System) -> str:
    if isinstance(value, Fraction):
        return figures.format_grouped(value, 4)
    return figures.format_size(value, system) if isinstance(value, int) else str(value)


def _module(row: Row, language: str) -> str:
    """A module's path stands for itself; the loss has none, and a layer as a whole no path within it."""
    named = f"module.{row['module'] or 'none'}"
    return text(named, language) if has(named, language) else str(row["module"])


def _gpus(row: Row, language: str) -> str:
    if row["gpu_memory"] is None:
        return text("ui.no_gpu", language)
    return f"{figures.format_size(row['gpu_memory'], 'binary')}: {', '.join(row['gpus'])}"


def reason(operation: str, slot: str, language: str) -> str:
    """Why an operation keeps a tensor; "" for an operation that has no words.

    >>> reason("Silu", "self", "en")
    'The gradient of this function needs its input.'
    """
    keys = (f"reason.{operation}.{slot}", f"reason.{operation}")
    return next((text(key, language) for key in keys if has(key, language)), "")


CELLS: dict[str, Callable[[Row, str], str]] = {
    "module": _module,
    "kept": lambda row, _: f"{row['operation']}.{row['slot']}",
    "reason": lambda row, language: reason(row["operation"], row["slot"], language),
    "gpus": _gpus,
}
"""Columns that are made of more than one entry of a row, or are no size and no name."""
