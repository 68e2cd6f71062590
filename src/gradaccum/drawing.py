"""What an answer draws: bars, curves or arrows, each marked as the right way, a wrong way or neither.

Numbers stay exact until here; a drawing needs doubles. The words are those of the messages ``drawing.<topic>`` and
``series.<key>``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from gradaccum import figures
from gradaccum.messages import text

Role = Literal["right", "wrong", "plain"]
Number = int | float | Fraction


@dataclass(frozen=True)
class Series:
    """One thing drawn: a bar of one number, a curve through points (x, y), or an arrow to one point (x, y)."""

    key: str
    role: Role
    points: Sequence[tuple[Number, Number]]
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawing:
    """``limit``: a level across bars and curves, the radius of a circle around arrows. ``values`` fill the summary."""

    kind: Literal["bars", "curves", "arrows"]
    series: Sequence[Series]
    values: Mapping[str, object] = field(default_factory=dict)
    limit: Number | None = None


def bar(key: str, role: Role, value: Number, **values: object) -> Series:
    """A bar of that length.

    >>> bar("right", "right", 2).points
    [(0, 2)]
    """
    return Series(key, role, [(0, value)], values)


def worded(drawing: Drawing, topic: str, language: str) -> dict[str, Any]:
    """The drawing as data for the module that draws it, with every word in the reader's language."""
    # An exact ratio can have more digits than Python prints: every message takes the shortened values.
    values = {name: _shown(value) for name, value in drawing.values.items()}
    return {
        "kind": drawing.kind,
        "title": text(f"drawing.{topic}.title", language),
        "summary": text(f"drawing.{topic}.summary", language, **values),
        "axes": [text(key, language, **values) for key in AXES[drawing.kind](topic)],
        "limit": None if drawing.limit is None else float(drawing.limit),
        "series": [
            {
                "label": text(f"series.{one.key}", language, **one.values),
                "role": one.role,
                "points": [[float(x), float(y)] for x, y in one.points],
                "text": figures.format_grouped(one.points[-1][1], 4),
            }
            for one in drawing.series
        ],
    }


AXES: dict[str, Callable[[str], list[str]]] = {
    "bars": lambda topic: [f"drawing.{topic}.x"],
    "curves": lambda topic: [f"drawing.{topic}.x", f"drawing.{topic}.y"],
    "arrows": lambda _: ["drawing.first_component", "drawing.second_component"],
}
"""The messages that name the axes of each kind."""


def _shown(value: object) -> object:
    return figures.format_grouped(value, 4) if isinstance(value, Fraction | float) else value
