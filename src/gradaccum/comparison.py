"""One run trained in three ways: all weights, adapters, adapters on four-bit weights; and the device each of them needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradaccum.catalogue import gpu_memory, gpus
from gradaccum.training import Plan, budget

METHODS = ("full", "lora", "qlora")
COLUMNS = ("method", "trainable_parameters", "peak", "gpus")


def methods(plan: Plan) -> list[dict[str, Any]]:
    """A row for each method: what it trains, its peak in bytes, and the smallest devices of the catalogue that hold it.

    Everything but the method stays as the plan has it.
    """
    rows = []
    for method in METHODS:
        found = budget(replace(plan, setting=replace(plan.setting, method=method)))
        peak = found.peak_phase.peak
        memory, names = smallest_gpus(peak)
        rows.append(
            {
                "method": method,
                "trainable_parameters": found.trainable,
                "peak": peak,
                "gpu_memory": memory,
                "gpus": names,
            }
        )
    return rows


def smallest_gpus(need: int) -> tuple[int | None, list[str]]:
    """The least nominal memory in the catalogue that holds ``need`` bytes, and the devices that have it.

    Memory that a device shares with the rest of its machine is left out. Where nothing is large enough: None and no names.

    >>> smallest_gpus(30 * 2**30)
    (34359738368, ['RTX 5090', 'V100 32GB'])
    """
    own = {name: gpu_memory(name) for name, gpu in gpus().items() if gpu["kind"] != "unified"}
    least = min((memory for memory in own.values() if memory >= need), default=None)
    return least, [name for name, memory in own.items() if memory == least]
