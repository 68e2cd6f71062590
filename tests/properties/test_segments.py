"""Segments drawn freely, where two moments are often as high: the second derivation in tests/derived walks through real ones."""

from hypothesis import given
from hypothesis import strategies as st

from gradaccum.spans import Span, compose

small = st.integers(0, 9)


def span_of(drawn):
    """A segment whose start is drawn, whose peak is at least both ends, and whose buffers grow with it."""
    start, end, above, before, growth, at_peak, times = drawn
    buffers = (before, before + min(at_peak, growth), before + growth)
    return Span(start, max(start, end) + above, end, buffers, times=times, heights=(start, max(start, end) + above, end))


spans = st.tuples(small, small, small, small, small, small, st.integers(1, 4)).map(span_of)


def walked(live, buffers, every):
    """The same segment by segment, each repetition on its own."""
    peak, at_peak, start, first, heights = live, buffers, live, buffers, set()
    for span in every:
        for _ in range(span.times):
            if live + span.peak - span.start > peak:
                peak, at_peak = live + span.peak - span.start, buffers + span.gradients[1] - span.gradients[0]
            heights |= {live + height - span.start for height in span.heights}
            live, buffers = live + span.end - span.start, buffers + span.gradients[2] - span.gradients[0]
    return start, peak, live, (first, at_peak, buffers), heights


@given(small, small, st.lists(spans, max_size=5))
def test_a_repeated_segment_is_that_many_segments(live, buffers, every):
    found = compose(live, buffers, every)
    start, peak, end, gradients, heights = walked(live, buffers, every)
    assert (found.start, found.peak, found.end, found.gradients) == (start, peak, end, gradients)
    assert set(found.heights) <= heights
    assert max(found.heights, default=0) == max(heights, default=0)
