"""Figures that others published, or that the run named there gave: one file holds them, each with source and day.

A page shows them through ``published`` and reckons with them through ``value``, so that both languages have one figure.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from page_parts.answers import PageError
from paths import DOCS

FILE = DOCS / "data" / "published.json"


@lru_cache
def entries() -> dict[str, dict[str, Any]]:
    """Every source by its name."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def text(name: str, figure: str) -> str:
    """The figure as it was printed: a number, or a size with its unit."""
    try:
        return str(entries()[name]["figures"][figure])
    except KeyError:
        raise PageError(f"no figure {figure!r} of {name!r} in {FILE.name}") from None


def has_unit(name: str, figure: str) -> bool:
    """Whether the figure is a size."""
    return text(name, figure)[-1].isalpha()


def value(name: str, figure: str) -> float:
    """The figure to reckon with; a size has none."""
    printed = text(name, figure)
    try:
        return int(printed) if printed.isdecimal() else float(printed)
    except ValueError:
        raise PageError(f"{printed!r}, {figure!r} of {name!r}, is no number to reckon with") from None


def timings(name: str, each: str, shared: str, steps: str) -> dict[int, float]:
    """Two timings as the snippet of the reduction's cost takes them: at one step, and at several that share one reduction."""
    return {1: value(name, each), int(value(name, steps)): value(name, shared)}
