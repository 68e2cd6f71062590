from gradaccum.spans import Span


def test_beside_buffers_nothing_of_them_is_left():
    span = Span(9, 20, 12, (3, 4, 5), rest_peak=14, times=7, heights=(1,), rest_heights=(2, 3))
    assert span.beside_buffers == Span(6, 14, 7, (0, 0, 0), 14, 7, (2, 3))
