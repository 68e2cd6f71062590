"""Segments of a window: bytes alive at their start, their peak and their end, one after the other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """Bytes alive at the start, the peak and the end of a segment that occurs ``times`` times in a row.

    ``gradients`` are those of the three that are gradient buffers, ``rest_peak`` the most there was beside them; ``heights``
    are all bytes that were alive at some moment, and ``rest_heights`` those beside the buffers, where the meter kept them.
    """

    start: int
    peak: int
    end: int
    gradients: tuple[int, int, int]
    rest_peak: int = 0
    times: int = 1
    heights: tuple[int, ...] = ()
    rest_heights: tuple[int, ...] = ()

    @property
    def beside_buffers(self) -> Span:
        """The same segment where all gradient buffers were there before: gradients that arrive are added and freed."""
        start, end = self.start - self.gradients[0], self.end - self.gradients[2]
        return Span(start, self.rest_peak, end, (0, 0, 0), self.rest_peak, self.times, self.rest_heights)


def compose(live: int, buffers: int, spans: list[Span]) -> Span:
    """The span of segments one after the other, from ``live`` bytes on, ``buffers`` of them gradients."""
    start = peak = live
    first = at_peak = buffers
    heights: list[int] = []
    for span in spans:
        change, growth = span.end - span.start, span.gradients[2] - span.gradients[0]
        # Every repetition changes the bytes alike, so the highest one is the first or the last.
        before = max(0, span.times - 1) if change > 0 else 0
        reached = live + before * change + span.peak - span.start
        if reached > peak:
            peak, at_peak = reached, buffers + before * growth + span.gradients[1] - span.gradients[0]
        lift = {live, live + max(0, span.times - 1) * change}
        heights += [height - span.start + base for height in span.heights for base in lift]
        live += span.times * change
        buffers += span.times * growth
    return Span(start, peak, live, (first, at_peak, buffers), heights=tuple(heights))
