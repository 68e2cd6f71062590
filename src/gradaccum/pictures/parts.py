"""What several pictures are made of."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gradaccum import figures, units
from gradaccum.catalogue import gpu_memory


def scaled(size: int, unit: str) -> float:
    """A size in that unit, for a drawing.

    >>> scaled(1_500_000_000, "GB")
    1.5
    """
    return float(Fraction(size, units.UNITS[unit]))


def limit(label: str, size: int, unit: str) -> dict[str, Any]:
    """A line that is not to be crossed, with its name."""
    return {"label": label, "value": scaled(size, unit), "text": figures.format_size(size, "binary")}


def device_limit(name: str, unit: str) -> dict[str, Any]:
    """The memory of a device of the catalogue as a line."""
    return limit(name, gpu_memory(name), unit)
