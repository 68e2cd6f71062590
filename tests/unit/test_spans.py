from gradaccum.spans import Span, compose


def test_beside_buffers_nothing_of_them_is_left():
    span = Span(9, 20, 12, (3, 4, 5), rest_peak=14, times=7, heights=(1,), rest_heights=(2, 3))
    assert span.beside_buffers == Span(6, 14, 7, (0, 0, 0), 14, 7, (2, 3))


def test_of_equal_peaks_the_first_says_how_much_of_it_are_buffers():
    """Three times 9 bytes are reached and none is left, and each time 5 more of what was there before are buffers."""
    found = compose(20, 1, [Span(0, 9, 0, (0, 2, 5), times=3)])
    assert (found.peak, found.end, found.gradients) == (29, 20, (1, 3, 16))
