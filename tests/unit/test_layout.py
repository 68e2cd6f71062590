import pytest

from gradaccum.layout import broadcast, contiguous_strides, elementwise_strides, is_contiguous, viewed_strides


@pytest.mark.parametrize("shape, strides", [((), ()), ((5,), (1,)), ((2, 3, 4), (12, 4, 1)), ((2, 0, 4), (4, 4, 1))])
def test_fresh_tensors_lie_dense(shape, strides):
    assert contiguous_strides(shape) == strides
    assert is_contiguous(shape, strides)


@pytest.mark.parametrize("shape, strides, dense", [((2, 3), (1, 2), False), ((1, 3), (99, 1), True), ((2, 1), (1, 7), True)])
def test_dimensions_of_one_element_do_not_count(shape, strides, dense):
    assert is_contiguous(shape, strides) is dense


@pytest.mark.parametrize(
    "shape, first, strides",
    [((2, 3), (3, 1), (3, 1)), ((2, 3), (1, 2), (1, 2)), ((2, 3, 4), (0, 4, 1), (1, 8, 2)), ((2, 3), (12, 1), (3, 1))],
)
def test_elementwise_results_keep_the_order_of_dimensions(shape, first, strides):
    assert elementwise_strides(shape, first) == strides


@pytest.mark.parametrize("one, two, shape", [((2, 1), (3,), (2, 3)), ((4,), (2, 3, 1), (2, 3, 4)), ((), (2,), (2,))])
def test_shapes_broadcast(one, two, shape):
    assert broadcast(one, two) == broadcast(two, one) == shape


@pytest.mark.parametrize(
    "shape, strides, wanted, viewed",
    [
        ((2, 3, 4), (12, 4, 1), (6, 4), (4, 1)),
        ((2, 3, 4), (12, 4, 1), (2, 12), (12, 1)),
        ((2, 3, 4), (12, 4, 1), (2, 3, 2, 2), (12, 4, 2, 1)),
        ((2, 3, 4), (4, 8, 1), (6, 4), None),
        ((2, 3, 4), (4, 8, 1), (2, 3, 2, 2), (4, 8, 2, 1)),
        ((4, 3), (3, 1), (2, 6), (6, 1)),
        ((4, 3), (1, 4), (3, 4), None),
        ((1, 1), (1, 1), (1,), (1,)),
        ((2, 1, 3), (3, 3, 1), (2, 3, 1), (3, 1, 1)),
        # A dimension of one element gets the stride that PyTorch 2.13 gives it.
        ((3,), (2,), (3, 1), (2, 2)),
        ((3,), (2,), (1, 3), (6, 2)),
        ((2, 3), (6, 2), (1, 2, 1, 3, 1), (12, 6, 6, 2, 2)),
        ((2, 3), (1, 2), (2, 1, 3, 1), (1, 6, 2, 2)),
        # Sizes beyond what a double tells apart.
        ((2**53 + 1, 15), (15, 1), ((2**53 + 1) * 3, 5), (5, 1)),
        (((2**53 + 1) * 15,), (1,), (2**53 + 1, 3, 5), (15, 5, 1)),
    ],
)
def test_a_view_or_a_copy(shape, strides, wanted, viewed):
    assert viewed_strides(shape, strides, wanted) == viewed


def test_another_number_of_elements_is_no_view():
    with pytest.raises(ValueError, match="another number"):
        viewed_strides((2, 3), (3, 1), (5,))
