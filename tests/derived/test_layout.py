"""Layouts once more, address by address: where each element lies, and whether other dimensions can name the same places."""

import itertools
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from gradaccum.layout import broadcast, contiguous_strides, elementwise_strides, fresh_layout, is_contiguous, viewed_strides

shapes = st.lists(st.integers(1, 4), max_size=4).map(tuple)


@st.composite
def laid_out(draw):
    """A tensor as operations leave one: dense in some order of dimensions, then some of them expanded from one element."""
    shape = draw(shapes)
    order = draw(st.permutations(range(len(shape))))
    expanded = draw(st.sets(st.sampled_from(order), max_size=1)) if order else set()
    strides, step = [0] * len(shape), 1
    for dim in order:
        strides[dim] = 0 if dim in expanded else step
        step *= 1 if dim in expanded else shape[dim]
    return shape, tuple(strides)


def addresses(shape, strides):
    """The place of every element, in the order in which they are counted."""
    return [sum(map(math.prod, zip(at, strides, strict=True))) for at in itertools.product(*map(range, shape))]


def other_shapes(count):
    """All shapes of so many elements without a dimension of one."""
    yield (count,) if count > 1 else ()
    for first in range(2, count):
        if count % first == 0:
            yield from ((first, *rest) for rest in other_shapes(count // first))


def named_by(places, wanted):
    """The strides under which that shape counts the same places, if there are any: one step along a dimension decides its own."""
    steps = [math.prod(wanted[dim + 1 :]) for dim in range(len(wanted))]
    strides = tuple(places[step] - places[0] for step in steps)
    return strides if addresses(wanted, strides) == [place - places[0] for place in places] else None


@settings(max_examples=150)
@given(laid_out(), st.data())
def test_a_view_is_another_way_to_count_the_same_places(tensor, data):
    shape, strides = tensor
    wanted = data.draw(st.sampled_from(list(other_shapes(math.prod(shape)))))
    assert viewed_strides(shape, strides, wanted) == named_by(addresses(shape, strides), wanted)
    # Dimensions of one element change nothing, wherever they stand.
    place = data.draw(st.integers(0, len(wanted)))
    found = viewed_strides(shape, strides, (*wanted[:place], 1, *wanted[place:]))
    without = None if found is None else (*found[:place], *found[place + 1 :])
    assert without == viewed_strides(shape, strides, wanted)


@settings(max_examples=150)
@given(laid_out())
def test_dense_is_every_place_once_and_in_order(tensor):
    shape, strides = tensor
    assert is_contiguous(shape, strides) is (addresses(shape, strides) == list(range(math.prod(shape))))
    assert addresses(shape, contiguous_strides(shape)) == list(range(math.prod(shape)))
    assert fresh_layout(shape) == (math.prod(shape), contiguous_strides(shape))


@settings(max_examples=150)
@given(laid_out())
def test_an_elementwise_result_is_dense_in_the_order_of_its_operand(tensor):
    shape, strides = tensor
    found = elementwise_strides(shape, strides)
    places = addresses(shape, found)
    assert sorted(places) == list(range(math.prod(shape)))
    # Of two dimensions that count, the one with the longer way in the operand has it in the result.
    wide = [dim for dim, size in enumerate(shape) if size > 1]
    for one, other in itertools.combinations(wide, 2):
        if strides[one] != strides[other]:
            assert (found[one] > found[other]) is (strides[one] > strides[other])
        else:
            assert found[one] > found[other]


@given(shapes, st.data())
def test_a_common_shape_has_room_for_both(shape, data):
    narrow = tuple(data.draw(st.sampled_from([1, size])) for size in shape)
    other = tuple(
        size if mine == 1 else data.draw(st.sampled_from([1, size])) for size, mine in zip(shape, narrow, strict=True)
    )
    cut = data.draw(st.integers(0, len(shape)))
    # Leading dimensions of one element may be left out.
    other = other if any(size > 1 for size in other[:cut]) else other[cut:]
    expected = tuple(max(pair) for pair in itertools.zip_longest(reversed(narrow), reversed(other), fillvalue=1))[::-1]
    assert broadcast(narrow, other) == broadcast(other, narrow) == expected
