"""Layouts once more, address by address: where each element lies, and whether other dimensions can name the same places."""

import itertools
import math
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from gradaccum import products, views
from gradaccum.families import heads, parts
from gradaccum.graph import Storage, Tensor
from gradaccum.layout import broadcast, contiguous_strides, elementwise_strides, fresh_layout, is_contiguous, viewed_strides
from gradaccum.tape import Tape

shapes = st.lists(st.integers(1, 4), max_size=4).map(tuple)


@st.composite
def laid_out(draw, shapes=shapes):
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


def of_rank(rank):
    """Layouts of so many dimensions."""
    return laid_out(st.tuples(*[st.integers(1, 4)] * rank))


def learning(tape, shape, strides):
    """A tensor of that layout that a gradient flows back to."""
    leaf = tape.parameter(f"p{len(tape.parameters)}", shape, "fp32", trainable=True)
    room = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    return tape.record("Before", Tensor(shape, strides, "fp32", Storage(4 * room, tape.meter)), [leaf], lambda *_: [None])


def places(tensor):
    """The place of each element by its indices."""
    return dict(zip(itertools.product(*map(range, tensor.shape)), addresses(tensor.shape, tensor.strides), strict=True))


def gradient_of(tape, output):
    """What the last step makes of a dense gradient, with the number of elements there is room for."""
    gradient = output.node.rule(tape, tape.new(output.shape, "fp32"))[0]
    return gradient, gradient.storage.size // 4


def looks(tape, x, one, other, size):
    """Each way to look at a tensor of four dimensions: the result, its shape, and which element of x an element of it is."""
    b, n, s, d = x.shape
    swapped = list(range(4))
    swapped[one], swapped[other] = other, one
    kept = tuple(min(size, length) if dim == one else length for dim, length in enumerate(x.shape))
    yield views.transpose(tape, x, one, other), tuple(x.shape[dim] for dim in swapped), lambda at: tuple(at[d] for d in swapped)
    yield views.part(tape, x, one, kept[one]), kept, lambda at: at
    yield from ((piece, (b, n, s, d), lambda at: at) for piece in views.split(tape, x, (d, d))[:1])
    yield parts.heads_first(SimpleNamespace(tape=tape), x), (b, s, n, d), lambda at: (at[0], at[2], at[1], at[3])
    if n == 1:
        shape, of_one = (b, size, s, d), lambda at: (at[0], 0, at[2], at[3])
        yield views.expand_heads(tape, x, size), shape, of_one if size > 1 else lambda at: at
    if b == 1:
        yield views.expand_first(tape, x, size), (size, n, s, d), lambda at: (0, *at[1:])


@settings(max_examples=60)
@given(of_rank(4), st.integers(0, 3), st.integers(0, 3), st.integers(1, 4))
def test_a_look_at_a_tensor_names_its_elements(layout, one, other, size):
    tape = Tape()
    x = learning(tape, *layout)
    for output, shape, element in looks(tape, x, one, other, size):
        assert (output.shape, output.dtype, output.storage is x.storage) == (shape, "fp32", True)
        assert places(output) == {at: places(x)[element(at)] for at in itertools.product(*map(range, shape))}
        if output is not x:
            gradient, room = gradient_of(tape, output)
            # A gradient holds each element once.
            assert gradient.shape == x.shape
            assert sorted(places(gradient).values()) == list(range(room))


@settings(max_examples=60)
@given(of_rank(3), st.data())
def test_another_shape_is_a_look_or_a_copy(layout, data):
    tape = Tape()
    x = learning(tape, *layout)
    wanted = data.draw(st.sampled_from(list(other_shapes(math.prod(x.shape)))))
    output = views.reshape(tape, x, wanted)
    named = named_by(addresses(*layout), wanted)
    assert (output.shape, output.strides) == (wanted, contiguous_strides(wanted) if named is None else named)
    assert (output.storage is x.storage, output.node.name) == ((False, "UnsafeView") if named is None else (True, "View"))
    gradient, room = gradient_of(tape, output)
    assert (gradient.shape, sorted(places(gradient).values())) == (x.shape, list(range(room)))
    dense = views.contiguous(tape, x)
    assert addresses(dense.shape, dense.strides) == list(range(math.prod(x.shape)))
    assert (dense is x) is (addresses(*layout) == list(range(math.prod(x.shape))))


@settings(max_examples=60)
@given(of_rank(3), st.integers(1, 4))
def test_rows_of_a_product_are_copied_only_where_they_cannot_be_merged(layout, out):
    tape = Tape()
    x, weight = learning(tape, *layout), learning(tape, (layout[0][-1], out), (out, 1))
    before = len(tape.nodes)
    output = products.mm(tape, x, weight)
    rows = (math.prod(x.shape[:-1]), x.shape[-1])
    copied = viewed_strides(*layout, rows) is None
    assert [node.name for node in tape.nodes[before:]] == (["UnsafeView"] if copied else []) + ["Mm"]
    assert [(entry.slot, entry.shape) for entry in tape.ledger] == [("self", rows), ("mat2", weight.shape)]
    assert (output.shape, output.strides) == ((*x.shape[:-1], out), contiguous_strides((*x.shape[:-1], out)))
    gradient, room = gradient_of(tape, output)
    assert gradient.shape == (rows if copied else x.shape)
    assert sorted(places(gradient).values()) == list(range(room))


@settings(max_examples=60)
@given(of_rank(4), st.integers(1, 3))
def test_stacks_of_matrices_are_copied_only_where_they_cannot_be_merged(layout, columns):
    tape = Tape()
    x = learning(tape, *layout)
    b, n, rows, inner = x.shape
    other = (b, n, inner, columns)
    before = len(tape.nodes)
    output = products.bmm(tape, x, learning(tape, other, contiguous_strides(other)))
    names = [node.name for node in tape.nodes[before + 1 :]]
    copied = viewed_strides(*layout, (b * n, rows, inner)) is None
    assert names == ["UnsafeView" if copied else "View", "View", "Bmm", "View"]
    assert [(e.slot, e.shape) for e in tape.ledger] == [("self", (b * n, rows, inner)), ("mat2", (b * n, inner, columns))]
    assert (output.shape, addresses(output.shape, output.strides)) == (
        (b, n, rows, columns),
        list(range(b * n * rows * columns)),
    )


@settings(max_examples=60)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 3), st.integers(1, 3))
def test_gradients_of_what_was_joined_are_looks_at_the_whole(sizes, b, s):
    tape = Tape()
    shapes = [(b, s, size) for size in sizes]
    joined = views.cat(tape, [learning(tape, shape, contiguous_strides(shape)) for shape in shapes])
    assert (joined.shape, joined.strides) == ((b, s, sum(sizes)), contiguous_strides((b, s, sum(sizes))))
    whole = tape.new(joined.shape, "fp32")
    for gradient, shape in zip(joined.node.rule(tape, whole), shapes, strict=True):
        assert (gradient.shape, gradient.storage is whole.storage, gradient.is_view) == (shape, True, True)
        assert places(gradient) == {at: places(whole)[at] for at in itertools.product(*map(range, shape))}


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_heads_and_the_first_position_of_a_row(b, s, n, d):
    tape = Tape()
    shape = (b, s, n * d)
    x = learning(tape, shape, contiguous_strides(shape))
    run = SimpleNamespace(tape=tape)
    found = parts.heads_of(run, x, n)
    assert found.shape == (b, n, s, d)
    assert all(place == places(x)[i, j, head * d + k] for (i, head, j, k), place in places(found).items())
    first = heads.first_position(run, x)
    assert (first.shape, first.storage is x.storage) == ((b, n * d), True)
    assert all(place == places(x)[i, 0, k] for (i, k), place in places(first).items())
    assert gradient_of(tape, first)[0].shape == shape
