"""One trace for every micro-batch: sizes in which the batch stands as a power of two too large for anything else.

A tensor's bytes are c, or d times the batch b, or e times the rows of a chunk of a fused loss; with ``BATCH`` in place of b,
and ``CHUNK`` in place of those rows, whatever is alive at some moment is the one integer c + d * BATCH + e * CHUNK, from
which c, d and e can be read off again. No decision the tape takes depends on b once there are two samples, so this holds
from b = 2 on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gradaccum.graph import Meter

_BITS = 128
BATCH = 1 << _BITS
CHUNK = 1 << 2 * _BITS


class Recorder(Meter):
    """A meter that remembers every height: which one is the peak depends on the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.heights: list[int] = [0]
        self.rest_heights: list[int] = [0]

    def add(self, size: int) -> None:
        """Count an allocation."""
        self.live = live = self.live + size
        self.heights.append(live)
        self.rest_heights.append(live - self.gradients)

    def forget_last(self) -> None:
        """Forget the height that the last allocation reached."""
        self.heights.pop()
        self.rest_heights.pop()

    def restart(self) -> None:
        """Forget the heights."""
        self.heights, self.rest_heights = [self.live], [self.live - self.gradients]


@dataclass(frozen=True)
class Line:
    """Bytes alive at one moment, for any batch: fixed + per_sample * b + per_chunk_row * rows of a chunk."""

    fixed: int
    per_sample: int
    per_chunk_row: int

    @classmethod
    def of(cls, size: int) -> Line:
        """Read off a size with ``BATCH`` in it."""
        return cls(size % BATCH, (size >> _BITS) % BATCH, size >> 2 * _BITS)

    def at(self, micro_batch: int, chunk: int) -> int:
        """The bytes at that batch, in which a chunk has that many rows."""
        return self.fixed + self.per_sample * micro_batch + self.per_chunk_row * chunk

    def covers(self, other: Line) -> bool:
        """Whether this moment is at least as high as the other, whatever the batch is."""
        return self.fixed >= other.fixed and self.per_sample >= other.per_sample and self.per_chunk_row >= other.per_chunk_row


def highest(heights: Iterable[int]) -> tuple[Line, ...]:
    """The moments of which any can be the peak, that is those that no other one covers.

    >>> highest([5 + 2 * BATCH, 4 + 2 * BATCH, 9])
    (Line(fixed=5, per_sample=2, per_chunk_row=0), Line(fixed=9, per_sample=0, per_chunk_row=0))
    """
    kept: list[Line] = []
    more_rows: list[Line] = []
    rows, most_fixed = -1, -1
    # From the most rows of a chunk down, and among equals from the most per sample down: within equals only ``fixed`` is open.
    for height in sorted(set(heights), reverse=True):
        if height >> 2 * _BITS != rows:
            rows, most_fixed, more_rows = height >> 2 * _BITS, -1, kept.copy()
        if height % BATCH > most_fixed:
            most_fixed = height % BATCH
            line = Line.of(height)
            if not any(higher.covers(line) for higher in more_rows):
                kept.append(line)
    return tuple(kept)
