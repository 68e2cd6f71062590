"""Rows of the planner's tables, and the sentence that says why a plan ranks where it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from gradaccum.calculators.declaration import Setting, Words
from gradaccum.figures import format_number
from gradaccum.planner import Candidate, Way

REASONS = ("recomputation", "idle", "reduction", "optimizer", "compute")


def plan_rows(found: Sequence[Candidate], effective_batch: int, budget: int) -> list[dict[str, Any]]:
    """The plans, best first."""
    return [plan_row(c, effective_batch, budget, why(c, found)) for c in found]


def plan_row(chosen: Candidate, effective_batch: int, budget: int, words: Words) -> dict[str, Any]:
    """One plan."""
    return {
        "micro_batch": chosen.micro_batch,
        "accumulation_steps": chosen.accumulation_steps,
        "effective_batch": effective_batch,
        **dict(chosen.way.switches),
        "peak": chosen.peak,
        "headroom": budget - chosen.peak,
        "relative_time": chosen.time.total,
        "why": words,
    }


def overflow(chosen: Candidate, budget: int) -> dict[str, Any]:
    """A neighbour that does not fit, with what it lacks."""
    return {
        "micro_batch": chosen.micro_batch,
        **dict(chosen.way.switches),
        "peak": chosen.peak,
        "lack": chosen.peak - budget,
        "relative_time": chosen.time.total,
    }


def why(chosen: Candidate, found: Sequence[Candidate]) -> Words:
    """What sets a plan apart from the first one: the training it changes, or the largest part of the time it loses."""
    first = found[0]
    if chosen is first:
        used = (first.time.compute + first.time.recomputation) / (
            first.time.compute + first.time.recomputation + first.time.idle
        )
        return Words("why.first", {"used": _percent(used)})
    if chosen.way.preference != first.way.preference:
        changed = zip(chosen.way.switches[:2], first.way.switches[:2], strict=True)
        return Words("why.later_choice", {"settings": tuple(Setting(*mine) for mine, theirs in changed if mine != theirs)})
    slower = chosen.time.total / first.time.total - 1
    if not slower:
        return Words("why.as_fast")
    losses = {name: getattr(chosen.time, name) - getattr(first.time, name) for name in REASONS}
    return Words(f"why.{max(losses, key=lambda name: losses[name])}", {"slower": _percent(slower)})


def _percent(part: Fraction) -> str:
    return f"{format_number(100 * part, 3)} %"


def changes_of(way: Way, allowed: Mapping[str, Sequence[str]]) -> tuple[Setting, ...]:
    """The switches that are set to something outside the allowed values."""
    return tuple(Setting(name, choice) for name, choice in way.switches if choice not in allowed[name])


def would_fit(way: Way, allowed: Mapping[str, Sequence[str]]) -> Words:
    """What would have to change for a way to be allowed."""
    return Words("why.would_fit", {"changes": changes_of(way, allowed)})
