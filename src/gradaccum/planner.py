"""Which micro-batch, how many accumulation steps and which switches reach an effective batch inside a memory budget.

Symbols: E effective batch, g replicas, n = E / g samples of one replica, b micro-batch, a = n / b accumulation steps.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from gradaccum.costs import Costs, Time
from gradaccum.divisors import divisors


class Need(Protocol):
    """What a way of training needs. ``at`` does not fall as b rises, except that a = 1 can need less than a = 2.

    Nothing needs less than one sample that is the whole update: ``at(1, 1)``.
    """

    @property
    def least(self) -> int:
        """Bytes that any micro-batch needs at the least."""

    def at(self, micro_batch: int, accumulation_steps: int) -> int:
        """Peak in bytes."""


@dataclass(frozen=True)
class Linear:
    """The need where only sums are known: fixed + b * A, in bytes."""

    fixed: int
    per_sample: int

    @property
    def least(self) -> int:
        """One sample."""
        return self.fixed + self.per_sample

    def at(self, micro_batch: int, _: int) -> int:
        """Fixed + b * A."""
        return self.fixed + micro_batch * self.per_sample


@dataclass(frozen=True)
class Way:
    """One combination of switches: what it needs, what it costs, and its place in the reader's order.

    ``preference``: places of what changes the training itself, which go before time; ``order``: places of the other switches,
    which part equals.
    """

    need: Need
    costs: Costs
    switches: tuple[tuple[str, str], ...] = ()
    preference: tuple[int, ...] = ()
    order: tuple[int, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A way with a micro-batch, its peak in bytes and the time of an update."""

    way: Way
    micro_batch: int
    accumulation_steps: int
    peak: int
    time: Time


def search(ways: Sequence[Way], per_replica: int, budget: int, most: int) -> list[Candidate]:
    """The best candidates that fit, best first: ``Way.preference``, then time, then ``Way.order``.

    Candidates are all divisors b of n in all ways; at most ``most`` come back. Time falls as b rises, so each way offers its
    micro-batches from the largest down, and a way is looked into only when its fastest could be next.
    """
    sizes = divisors(per_replica)
    waiting: list[tuple[object, int, Iterator[Candidate] | None, Candidate | None]] = []
    for number, way in enumerate(ways):
        heapq.heappush(waiting, (rank_of(way, way.costs.at(1)), number, None, None))
    found: list[Candidate] = []
    while waiting and len(found) < most:
        _, number, offered, candidate = heapq.heappop(waiting)
        if candidate:
            found.append(candidate)
        following = offered or fitting(ways[number], per_replica, sizes, budget)
        if candidate := next(following, None):
            heapq.heappush(waiting, (rank_of(candidate.way, candidate.time), number, following, candidate))
    return found


def rank_of(way: Way, time: Time) -> tuple[object, ...]:
    """Where a way that takes that time stands: lower is better."""
    return way.preference, time.total, way.order


def rank(chosen: Candidate) -> tuple[object, ...]:
    """Where a candidate stands: lower is better."""
    return rank_of(chosen.way, chosen.time)


def candidate(way: Way, per_replica: int, micro_batch: int) -> Candidate:
    """A way with that micro-batch."""
    steps = per_replica // micro_batch
    return Candidate(way, micro_batch, steps, way.need.at(micro_batch, steps), way.costs.at(steps))


def fitting(way: Way, per_replica: int, sizes: Sequence[int], budget: int) -> Iterator[Candidate]:
    """What fits of a way, the largest micro-batch first."""
    # Without a buffer one sample needs the least, and to know that takes one look; to know that nothing fits would take two.
    if way.need.least > budget or way.need.at(1, 1) > budget:
        return
    if (whole := candidate(way, per_replica, per_replica)).peak <= budget:
        yield whole
    # All but the whole at once, which alone needs no gradient buffer beside its activations, need more as b rises.
    for micro_batch in reversed(sizes[: _count(way, per_replica, sizes, budget)]):
        if (smaller := candidate(way, per_replica, micro_batch)).peak <= budget:
            yield smaller


def _count(way: Way, per_replica: int, sizes: Sequence[int], budget: int) -> int:
    """How many of the sizes below n fit."""
    return bisect_right(sizes, budget, hi=len(sizes) - 1, key=lambda b: way.need.at(b, per_replica // b))


def next_larger(chosen: Candidate, per_replica: int) -> Candidate | None:
    """The same way with the next larger micro-batch, or None when it takes all samples at once already."""
    larger = [b for b in divisors(per_replica) if b > chosen.micro_batch]
    return candidate(chosen.way, per_replica, larger[0]) if larger else None


def smallest(ways: Iterable[Way], per_replica: int) -> Candidate:
    """The candidate that needs the least memory: one sample at a time, or all at once without a gradient buffer.

    All at once needs no less than one sample does without a buffer, so most ways are looked into for one sample alone.
    """
    best: Candidate | None = None
    for way in sorted(ways, key=lambda way: way.need.least):
        if best is None or way.need.least < best.peak:
            one = candidate(way, per_replica, 1)
            best = min([*([best] if best else []), one], key=lambda c: c.peak)
            if way.need.at(1, 1) < best.peak:
                best = min(best, candidate(way, per_replica, per_replica), key=lambda c: c.peak)
    if best is None:
        raise ValueError("no way to look at")
    return best
