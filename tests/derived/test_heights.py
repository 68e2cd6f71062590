"""Peaks once more, by writing down every height there ever was: of a meter, of segments in a row, and of any batch."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gradaccum.graph import Meter, Storage
from gradaccum.spans import Span, compose
from gradaccum.symbols import BATCH, CHUNK, Recorder, highest

# Bytes that come (or go), and whether they are those of a gradient buffer, which stays.
allocations = st.lists(st.tuples(st.integers(1, 9), st.sampled_from(["kept", "freed", "gradient"])), max_size=8)


def play(meter, allocated):
    """What happens in a segment: memory that stays, memory that is freed at once, buffers; every moment is noted."""
    moments = [(meter.live, meter.gradients)]
    stays = []
    for size, kind in allocated:
        if kind == "gradient":
            # Counted as a buffer before it is there, as the tape does.
            meter.gradients += size
        held = Storage(size, meter)
        moments.append((meter.live, meter.gradients))
        if kind != "freed":
            stays.append(held)
        del held
    return moments, stays


def peaks(moments):
    peak = max(live for live, _ in moments)
    return peak, next(gradients for live, gradients in moments if live == peak), max(live - held for live, held in moments)


@settings(max_examples=200)
@given(allocations, allocations)
def test_a_meter_knows_the_highest_moment_since_it_was_restarted(before, after):
    meter = Meter()
    first, held = play(meter, before)
    assert (meter.peak, meter.gradients_at_peak, meter.rest_peak) == peaks(first)
    meter.restart()
    assert (meter.peak, meter.gradients_at_peak) == (meter.live, meter.gradients)
    assert meter.rest_peak == meter.live - meter.gradients
    second, more = play(meter, after)
    assert (meter.peak, meter.gradients_at_peak, meter.rest_peak) == peaks(second)
    recorder = Recorder()
    _, kept = play(recorder, before)
    assert recorder.heights == [live for live, _ in first]
    assert recorder.rest_heights == [live - gradients for live, gradients in first]
    recorder.restart()
    assert (recorder.heights, recorder.rest_heights) == ([recorder.live], [recorder.live - recorder.gradients])
    gradients = sum(size for size, kind in before if kind == "gradient")
    del held, more, kept
    # Buffers are storages too here: with the last reference everything is gone.
    assert (meter.live, recorder.live, recorder.gradients) == (0, 0, gradients)


@given(allocations, st.integers(1, 9))
def test_the_last_allocation_can_be_forgotten(before, size):
    meter, recorder = Meter(), Recorder()
    _, held = play(meter, before)
    _, kept = play(recorder, before)
    known = meter.peak, meter.rest_peak, list(recorder.heights), list(recorder.rest_heights)
    last = [Storage(size, meter), Storage(size, recorder)]
    meter.forget_last()
    recorder.forget_last()
    assert (meter.peak, meter.rest_peak, recorder.heights, recorder.rest_heights) == known
    assert len(held) == len(kept)
    assert meter.live == recorder.live == sum(one.size for one in held) + last[0].size


segments = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(-5, 9), st.booleans()), max_size=5),
        st.integers(1, 4),
    ),
    max_size=4,
)


def walked(live, buffers, steps):
    """Every moment of a walk: bytes alive, and how many of them are buffers; only what comes can be one."""
    moments = [(live, buffers)]
    for change, gradient in steps:
        live += change
        buffers += change if gradient and change > 0 else 0
        moments.append((live, buffers))
    return moments


def span_of(steps, times):
    moments = walked(100, 7, steps)
    (start, first), (end, last) = moments[0], moments[-1]
    peak, at_peak, rest = peaks(moments)
    heights = tuple(live for live, _ in moments)
    return Span(start, peak, end, (first, at_peak, last), rest, times, heights, tuple(live - held for live, held in moments))


@settings(max_examples=400)
@given(st.integers(0, 50), st.integers(0, 9), segments)
def test_segments_in_a_row_are_walked_through_one_by_one(live, buffers, chosen):
    moments = [(live, buffers)]
    for steps, times in chosen:
        for _ in range(times):
            moments += walked(*moments[-1], steps)
    found = compose(live, buffers, [span_of(steps, times) for steps, times in chosen])
    assert (found.start, found.end) == (live, moments[-1][0])
    assert (found.gradients[0], found.gradients[2]) == (buffers, moments[-1][1])
    assert (found.peak, found.gradients[1]) == peaks(moments)[:2]
    # Not every height of a repetition is kept, but each that is was there, and the highest is.
    assert set(found.heights) <= {height for height, _ in moments}
    assert max((*found.heights, live)) == found.peak
    assert found.times == 1


@given(st.lists(st.tuples(st.integers(-5, 9), st.booleans()), max_size=5), st.integers(1, 4))
def test_beside_buffers_the_rest_is_what_is_left_of_every_moment(steps, times):
    moments = walked(100, 7, steps)
    found = span_of(steps, times).beside_buffers
    rest = [live - held for live, held in moments]
    assert (found.start, found.peak, found.end) == (rest[0], max(rest), rest[-1])
    assert (found.gradients, found.times, found.heights) == ((0, 0, 0), times, tuple(rest))


lines = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 2) | st.integers(0, 6)), max_size=25)


@settings(max_examples=300)
@given(lines)
def test_the_moments_that_can_be_the_peak_are_those_no_other_covers(chosen):
    found = highest([fixed + sample * BATCH + row * CHUNK for fixed, sample, row in chosen])
    kept = {(line.fixed, line.per_sample, line.per_chunk_row) for line in found}
    covered = {
        one
        for one in chosen
        if any(other != one and all(mine <= theirs for mine, theirs in zip(one, other, strict=True)) for other in chosen)
    }
    assert kept == set(chosen) - covered
    assert len(found) == len(kept)
    for batch in (2, 3, 50, 10**6):
        for chunk in (1, 8, 10**6):
            expected = max((fixed + sample * batch + row * chunk for fixed, sample, row in chosen), default=0)
            assert max((line.at(batch, chunk) for line in found), default=0) == expected
