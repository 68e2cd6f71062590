"""What there is to draw of an answer, as data in words and plain numbers; the drawing itself is done by ``docs/assets/js``.

To add a picture: a function here under the name that calculators list in ``pictures``, and a module of that name there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradaccum.calculators.declaration import Answer, Values
from gradaccum.pictures import accumulation, planner, training

PICTURES: dict[str, Callable[[Values, Answer, str], dict[str, Any] | None]] = {
    "capacity": accumulation.capacity,
    "window": accumulation.accumulation_window,
    "budget": training.budget,
    "phases": training.phases,
    "frontier": planner.frontier,
}
"""Each takes the inputs, the answer and the language; None where the answer holds nothing to draw."""

__all__ = ["PICTURES"]
