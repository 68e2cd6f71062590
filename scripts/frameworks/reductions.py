"""How often gradients are reduced between two replicas in a window of four micro-batches."""

from __future__ import annotations

from typing import Any

from frameworks import ranks

STEPS = 4
WINDOWS = 2
# The loop's own count of targets is one more reduction for each window.
COUNTED_TARGETS = WINDOWS


def case(framework: str) -> dict[str, Any]:
    """Two full windows on each of two replicas."""
    inputs = {"framework": framework, "micro_batch": 1, "accumulation_steps": STEPS, "replicas": 2}
    return {"inputs": inputs, "samples": 2 * STEPS * WINDOWS, "settings": {}}


def counted() -> dict[str, dict[str, float]]:
    """Reductions per window, from the calls that PyTorch's profiler saw on one rank; FSDP2 reduces group by group."""
    seen = dict(zip(("pytorch", "fsdp2"), ranks.run([case("pytorch"), case("fsdp2")]), strict=True))
    groups = 3  # two blocks, and what is left of the model
    whole = seen["pytorch"]["calls"].get("c10d::allreduce_", 0) - COUNTED_TARGETS
    sharded = sum(count for name, count in seen["fsdp2"]["calls"].items() if "reduce_scatter" in name)
    return {"pytorch": {"per_window": whole / WINDOWS}, "fsdp2": {"per_window": sharded / groups / WINDOWS}}
