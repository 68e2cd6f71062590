"""One accumulation window, phase by phase: what is held while it runs."""

from __future__ import annotations

from dataclasses import dataclass

LENGTHS = {"forward": 1, "backward": 2, "skipped": 1, "update": 1, "zero_grad": 1}
"""Schematic lengths: a backward pass computes two gradients per product, so it is drawn twice as long as a forward pass."""


@dataclass(frozen=True)
class Segment:
    """A stretch of the window. Activations in bytes and gradients as a part of their buffer, each at its start and end."""

    phase: str
    micro_batch: int
    start: int
    end: int
    activations: tuple[int, int]
    gradients: tuple[int, int]
    weights: int


def segments(accumulation_steps: int, activation_memory: int, shown: int = 4) -> list[Segment]:
    """The window as forward and backward passes, the update and the release of the gradients.

    Of a long window the first ``shown`` - 1 micro-batches and the last one are shown.

    Activations climb to M = b A in every forward pass and fall to 0 in every backward pass; the gradient buffer appears in the
    first backward pass and stays until ``zero_grad``; the weights change once, in the update. A stretch that stands for several
    micro-batches has the phase ``"skipped"`` and their number as ``micro_batch``.
    Does not include: gradients zeroed in place instead of freed, optimizer state, temporaries.

    >>> [s.phase for s in segments(2, 10)]
    ['forward', 'backward', 'forward', 'backward', 'update', 'zero_grad']
    """
    result: list[Segment] = []
    clock = 0

    def add(phase: str, micro_batch: int, activations: tuple[int, int], gradients: tuple[int, int]) -> None:
        nonlocal clock
        weights = 1 if phase in ("update", "zero_grad") else 0
        result.append(Segment(phase, micro_batch, clock, clock + LENGTHS[phase], activations, gradients, weights))
        clock += LENGTHS[phase]

    skipped = accumulation_steps - shown if accumulation_steps > shown + 1 else 0
    for micro_batch in [*range(1, min(accumulation_steps, shown + 1)), accumulation_steps]:
        if skipped and micro_batch == shown:
            add("skipped", skipped, (0, 0), (1, 1))
            continue
        held = 0 if micro_batch == 1 else 1
        add("forward", micro_batch, (0, activation_memory), (held, held))
        add("backward", micro_batch, (activation_memory, 0), (held, 1))
    add("update", accumulation_steps, (0, 0), (1, 1))
    add("zero_grad", accumulation_steps, (0, 0), (1, 0))
    return result
