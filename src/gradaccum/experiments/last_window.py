"""What becomes of the micro-batches left over at the end of an epoch.

Every micro-batch has the gradient 1, so a right update is exactly 1. m micro-batches an epoch, a accumulation steps, n epochs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

POLICIES = ("actual_length", "divided_by_a", "dropped", "carried", "off_by_one")


@dataclass(frozen=True)
class Run:
    """Gradients of the updates of a run in their order; micro-batches that never reached one; updates that mix two epochs."""

    updates: list[Fraction]
    lost: int
    mixed: int = 0


def run(micro_batches: int, accumulation_steps: int, epochs: int, policy: str) -> Run:
    """The updates of a run under one policy.

    ``"actual_length"``: the rest is stepped and divided by its own length (right); ``"divided_by_a"``: stepped, but divided by
    a; ``"dropped"``: thrown away; ``"carried"``: left in the buffer for the next epoch; ``"off_by_one"``: carried, with the
    test ``i % a == 0`` on a counter from 0 that starts anew each epoch, so the first window of an epoch closes after one
    micro-batch.

    >>> [float(update) for update in run(10, 4, 1, "divided_by_a").updates]
    [1.0, 1.0, 0.5]
    """
    a, updates, in_buffer, lost, mixed = accumulation_steps, [], 0, 0, 0
    for epoch in range(epochs):
        older = in_buffer
        for i in range(micro_batches):
            in_buffer += 1
            counted = i % a == 0 if policy == "off_by_one" else in_buffer == a
            ends = policy in ("actual_length", "divided_by_a") and i == micro_batches - 1
            if counted or ends:
                updates.append(Fraction(in_buffer, in_buffer if policy == "actual_length" else a))
                mixed += 1 if older else 0
                in_buffer = older = 0
        if policy == "dropped" or epoch == epochs - 1:
            lost, in_buffer = lost + in_buffer, 0
    return Run(updates, lost, mixed)
