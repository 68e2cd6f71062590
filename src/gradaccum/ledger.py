"""The ledger of a training step as rows: which tensor is kept, by which operation, in how many layers, and how large it is."""

from __future__ import annotations

from typing import Any

from gradaccum.formulas import Symbols
from gradaccum.graph import Entry
from gradaccum.training import Budget, Plan


def rows(plan: Plan, found: Budget) -> list[dict[str, Any]]:
    """What autograd keeps for one micro-batch, largest first; the layers of a kind are one line.

    ``formula`` is a product of numbers and symbols whose value is ``bytes``: see ``symbols``.
    """
    symbols = Symbols(plan.architecture, plan.setting.rank, plan.micro_batch, plan.sequence_length)
    times: dict[Entry, int] = {}
    for kept in found.trace.ledger:
        entry = kept.entry
        line = Entry(_module(entry.module), entry.operation, entry.slot, entry.shape, entry.dtype, entry.size)
        times[line] = times.get(line, 0) + kept.times
    return [_row(entry, count, symbols) for entry, count in sorted(times.items(), key=lambda one: -one[0].size * one[1])]


def _module(path: str) -> str:
    """Inside a layer the path goes on behind the layer's own name; what the layer as a whole keeps has none."""
    return path if ":" not in path else path.partition(":")[2].lstrip(".") or "layer"


def _row(entry: Entry, times: int, symbols: Symbols) -> dict[str, Any]:
    return {
        "module": entry.module,
        "operation": entry.operation,
        "slot": entry.slot,
        "shape": list(entry.shape),
        "dtype": entry.dtype,
        "times": times,
        "formula": symbols.product(entry, times),
        "bytes": entry.size * times,
    }
