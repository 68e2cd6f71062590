"""Each operation by itself: its name in PyTorch's graph, the result, what is kept, which gradients come back."""

import pytest

from gradaccum import operations as ops
from gradaccum import products, views
from gradaccum.graph import BYTES, Tensor
from gradaccum.layout import contiguous_strides
from gradaccum.tape import Tape

X, Y, ROW = (4, 6), (4, 6), (6,)
ONE, SAME = "one of its own", "the incoming one"
CASES = {
    # What is done, shapes of what goes in, name, shape of the result, what is kept of which shape, gradients by their shapes.
    "add": (ops.add, [X, Y], "Add", X, {}, [(X, SAME), (Y, SAME)]),
    "add a row": (ops.add, [X, ROW], "Add", X, {}, [(X, SAME), (X, SAME)]),
    "multiply": (ops.mul, [X, Y], "Mul", X, {"self": X, "other": Y}, [(X, ONE), (Y, ONE)]),
    "multiply by a row": (ops.mul, [X, ROW], "Mul", X, {"self": X, "other": ROW}, [(X, ONE), (X, ONE)]),
    "a row multiplied": (ops.mul, [ROW, X], "Mul", X, {"self": ROW, "other": X}, [(X, ONE), (X, ONE)]),
    "by a number": (ops.scalar, [X], "Mul", X, {}, [(X, ONE)]),
    "negated": (lambda tape, x: ops.scalar(tape, x, "Neg"), [X], "Neg", X, {}, [(X, ONE)]),
    "a number added": (ops.shift, [X], "Add", X, {}, [(X, SAME)]),
    "silu": (lambda tape, x: ops.keep_input(tape, "Silu", x), [X], "Silu", X, {"self": X}, [(X, ONE)]),
    "square": (ops.square, [X], "Pow", X, {"self": X}, [(X, ONE)]),
    "tanh": (lambda tape, x: ops.keep_result(tape, "Tanh", x), [X], "Tanh", X, {"result": X}, [(X, ONE)]),
    "mean": (ops.mean, [X], "Mean", (4, 1), {}, [(X, ONE)]),
    "sum": (ops.summed, [(2, 4, 6)], "Sum", (2, 6), {}, [((2, 4, 6), SAME)]),
    "sum of each row": (ops.summed_last, [X], "Sum", (4, 1), {}, [(X, SAME)]),
    "divide": (ops.divide, [X, (4, 1)], "Div", X, {"self": X, "other": (4, 1)}, [(X, ONE), ((4, 1), ONE)]),
    "part": (lambda tape, x: views.part(tape, x, 0, 2), [(4, 6, 5)], "Slice", (2, 6, 5), {}, [((4, 6, 5), ONE)]),
    "inner part": (lambda tape, x: views.part(tape, x, 1, 2), [(4, 6, 5)], "Slice", (4, 2, 5), {}, [((4, 6, 5), ONE)]),
    "turn": (lambda tape, x: views.transpose(tape, x, 0, 2), [(4, 6, 5)], "Transpose", (5, 6, 4), {}, [((4, 6, 5), SAME)]),
    "reshape": (lambda tape, x: views.reshape(tape, x, (24,)), [X], "View", (24,), {}, [(X, SAME)]),
    "expand": (lambda tape, x: views.expand_first(tape, x, 3), [(1, 6)], "Expand", (3, 6), {}, [((1, 6), ONE)]),
    "expand to one": (lambda tape, x: views.expand_first(tape, x, 1), [(1, 6)], "Expand", (1, 6), {}, [((1, 6), SAME)]),
    "join": (lambda tape, *x: views.cat(tape, x), [X, (4, 2)], "Cat", (4, 8), {}, [(X, SAME), ((4, 2), SAME)]),
    "join along the first": (lambda tape, *x: views.cat(tape, x, (8, 6)), [X, Y], "Cat", (8, 6), {}, [(X, SAME), (Y, SAME)]),
    "repeat": (
        lambda tape, x: views.expand_heads(tape, x, 3),
        [(2, 2, 5, 4)],
        "UnsafeView",
        (2, 6, 5, 4),
        {},
        [((2, 2, 5, 4), ONE)],
    ),
    "repeat one": (
        lambda tape, x: views.expand_heads(tape, x, 3),
        [(2, 1, 5, 4)],
        "Expand",
        (2, 3, 5, 4),
        {},
        [((2, 1, 5, 4), ONE)],
    ),
    "repeat a copy of one": (
        lambda tape, x: views.expand_heads(tape, x, 3, copy=True),
        [(2, 1, 5, 4)],
        "UnsafeView",
        (2, 3, 5, 4),
        {},
        [((2, 1, 5, 4), ONE)],
    ),
    "product": (products.mm, [X, (6, 3)], "Mm", (4, 3), {"self": X, "mat2": (6, 3)}, [(X, ONE), ((6, 3), ONE)]),
    "product and bias": (
        products.mm,
        [X, (6, 3), (3,)],
        "Addmm",
        (4, 3),
        {"mat1": X, "mat2": (6, 3)},
        [(X, ONE), ((6, 3), ONE), ((3,), ONE)],
    ),
    "product of many rows": (
        products.mm,
        [(2, 4, 6), (6, 3)],
        "Mm",
        (2, 4, 3),
        {"self": (8, 6), "mat2": (6, 3)},
        [((2, 4, 6), ONE), ((6, 3), ONE)],
    ),
    "product of groups": (
        lambda tape, x, weight: products.grouped_mm(tape, x, weight, tape.new((2,), "int32")),
        [X, (2, 6, 3)],
        "GroupedMm",
        (4, 3),
        {"self": X, "mat2": (2, 6, 3), "offs": (2,)},
        [(X, ONE), ((2, 6, 3), ONE)],
    ),
    "products of a stack": (
        products.baddbmm,
        [(2, 4, 3), (2, 4, 6), (2, 6, 3)],
        "Baddbmm",
        (2, 4, 3),
        {"batch1": (2, 4, 6), "batch2": (2, 6, 3)},
        [((2, 4, 3), ONE), ((2, 4, 6), ONE), ((2, 6, 3), ONE)],
    ),
    "convolution": (
        lambda tape, *x: products.convolution(tape, *x, (1, 5, 2, 2)),
        [(1, 3, 8, 8), (5, 3, 4, 4), (5,)],
        "Convolution",
        (1, 5, 2, 2),
        {"input": (1, 3, 8, 8), "weight": (5, 3, 4, 4)},
        [((1, 3, 8, 8), ONE), ((5, 3, 4, 4), ONE), ((5,), ONE)],
    ),
    "rows by number": (
        lambda tape, x: ops.gathered(tape, x, (2, 6), {"indices": tape.new((2,), "int64")}),
        [X],
        "Index",
        (2, 6),
        {"indices": (2,)},
        [(X, ONE)],
    ),
    "embedding": (
        lambda tape, weight: ops.embedding(tape, tape.new((3, 5), "int64"), weight),
        [(9, 6)],
        "Embedding",
        (3, 5, 6),
        {"indices": (3, 5)},
        [((9, 6), ONE)],
    ),
}
VIEWS = {"part", "inner part", "turn", "reshape", "expand", "expand to one", "repeat one", "divide"}


def computed(tape, shape, dtype="fp32"):
    """A tensor that something before it computed, so that it is kept by whoever needs it."""
    leaf = tape.new(shape, dtype)
    leaf.node = tape.parameter(f"p{len(tape.parameters)}", shape, dtype, trainable=True).parameter
    return tape.record("Before", tape.new(shape, dtype), [leaf], lambda *_: [None])


def bytes_of(shape, dtype="fp32"):
    return Tensor(shape, (), dtype, None).size


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("case", CASES)
def test_name_result_and_what_is_kept(case, dtype):
    function, shapes, name, result, kept, _ = CASES[case]
    tape = Tape()
    inputs = [computed(tape, shape, dtype) for shape in shapes]
    before = len(tape.ledger), tape.meter.live
    tape.meter.restart()
    output = function(tape, *inputs)
    assert (output.shape, output.dtype) == (result, dtype)
    assert (output.node.name, list(output.node.inputs)) == (name, [x.node for x in inputs])
    found = {entry.slot: entry.shape for entry in tape.ledger[before[0] :]}
    # One storage that is kept twice stands in the ledger once; here none is.
    assert found == kept
    assert all((entry.operation, entry.module) == (name, "") for entry in tape.ledger[before[0] :])
    shared = any(output.storage is x.storage for x in inputs)
    assert shared is (case in VIEWS)
    indices = {"rows by number": 2 * 8, "embedding": 15 * 8, "product of groups": 2 * 4}.get(case, 0)
    assert tape.meter.live - before[1] == (0 if shared else bytes_of(result, dtype)) + indices
    # Nothing but the result was there on the way to it.
    assert tape.meter.peak == tape.meter.live
    if not shared:
        assert output.strides == contiguous_strides(result)


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("case", CASES)
def test_gradients_that_come_back(case, dtype):
    function, shapes, _, result, _, gradients = CASES[case]
    tape = Tape()
    inputs = [computed(tape, shape, dtype) for shape in shapes]
    output = function(tape, *inputs)
    incoming = tape.new(result, output.dtype)
    before = tape.meter.live
    tape.meter.restart()
    found = output.node.rule(tape, incoming)
    assert [(g.shape, SAME if g.storage is incoming.storage else ONE) for g in found] == [
        (shape, SAME if whose == SAME else ONE) for shape, whose in gradients
    ]
    assert {g.dtype for g in found} == {dtype}
    # A look at the incoming gradient is one, unless it is that gradient itself.
    assert all(g is incoming or g.is_view for g in found if g.storage is incoming.storage)
    # Where the rule makes them in the result's shape, it is said what they must come to.
    if [g.shape for g in found] != shapes:
        assert output.node.wanted == tuple((shape, dtype) for shape in shapes)
    own = sum(bytes_of(shape, dtype) for shape, whose in gradients if whose == ONE)
    assert tape.meter.live - before == own
    # The square's derivative is made of x to the power 1 and of twice that, which are there until it is.
    assert tape.meter.peak - before == own + (2 * bytes_of(X, dtype) if case == "square" else 0)


SEVERAL = [(name, learns) for name, (_, shapes, *_) in CASES.items() if len(shapes) > 1 for learns in range(len(shapes))]


@pytest.mark.parametrize("case, learns", SEVERAL)
def test_only_what_learns_gets_a_gradient_and_only_its_factor_is_kept(case, learns):
    function, shapes, name, result, kept, _ = CASES[case]
    tape = Tape()
    inputs = [computed(tape, shape) if place == learns else tape.new(shape, "fp32") for place, shape in enumerate(shapes)]
    before = len(tape.ledger)
    output = function(tape, *inputs)
    found = output.node.rule(tape, tape.new(result, "fp32"))
    assert [gradient is not None for gradient in found] == [place == learns for place in range(len(shapes))]
    slots = {entry.slot for entry in tape.ledger[before:]}
    factors = {"self": 0, "mat1": 0, "other": 1, "mat2": 1, "batch1": 1, "batch2": 2}
    if name in {"Mul", "Mm", "Addmm", "GroupedMm", "Baddbmm", "Div"}:
        # A product's other factor; whoever learns by addition needs neither.
        added = {"Baddbmm": 0, "Addmm": 2}.get(name)
        wanted = set() if learns == added else {slot for slot in kept if slot in factors and factors[slot] != learns}
        assert slots - {"offs"} == wanted


@pytest.mark.parametrize("shape, sizes", [((4, 6), (2, 4)), ((2, 3, 9), (3, 3, 3))])
def test_a_split_joins_its_gradients_once(shape, sizes):
    tape = Tape()
    x = computed(tape, shape)
    pieces = views.split(tape, x, sizes)
    assert [piece.shape for piece in pieces] == [(*shape[:-1], size) for size in sizes]
    assert [piece.node.name for piece in pieces] == ["Split"] * len(sizes)
    gradients = [piece.node.rule(tape, tape.new(piece.shape, "fp32"))[0] for piece in pieces]
    # The slice that was cut first comes last in the backward pass: there all of them are joined.
    assert [gradient and gradient.shape for gradient in gradients] == [shape, *[None] * (len(sizes) - 1)]


@pytest.mark.parametrize("first, second", [("bf16", "fp32"), ("fp32", "bf16"), ("fp16", "bf16")])
def test_mixed_factors_get_gradients_of_their_own_dtype(first, second):
    tape = Tape()
    a, b = computed(tape, X, first), computed(tape, Y, second)
    for function in (ops.add, ops.mul):
        output = function(tape, a, b)
        assert output.dtype == "fp32"
        assert output.node.wanted == ((X, first), (Y, second))
    assert ops.shift(tape, a, second).node.wanted == ((X, first),)
    assert ops.shift(tape, a, second).dtype == ops.promoted(first, second)


@pytest.mark.parametrize("autocast, dtype", [(None, "bf16"), ("bf16", "fp32")])
def test_autocast_sums_in_fp32(autocast, dtype):
    tape = Tape(autocast)
    x = computed(tape, (2, 4, 6), "bf16")
    output = ops.summed(tape, x)
    assert (output.dtype, output.node.wanted) == (dtype, (((2, 4, 6), "bf16"),))


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
@pytest.mark.parametrize("autocast", [None, "bf16"])
def test_what_runs_in_fp32_under_autocast(autocast, dtype):
    tape = Tape(autocast)
    x = computed(tape, X, dtype)
    raised = ops.upper(tape, x)
    assert (raised is x) is (autocast is None or dtype == "fp32")
    if raised is not x:
        assert (raised.dtype, raised.node.name) == ("fp32", "ToCopy")
        (gradient,) = raised.node.rule(tape, tape.new(X, "fp32"))
        assert (gradient.shape, gradient.dtype) == (X, dtype)


def test_only_leaves_are_lowered_once():
    tape = Tape("bf16")
    weight = tape.parameter("w", X, "fp32", trainable=True)
    assert ops.lower(tape, weight) is ops.lower(tape, weight)
    x = computed(tape, X)
    first, second = ops.lower(tape, x), ops.lower(tape, x)
    assert first is not second
    assert first.dtype == second.dtype == "bf16"
    assert list(tape.autocast_cache) == ["w"]
    half = tape.new(X, "fp16")
    assert ops.lower(tape, half) is half


@pytest.mark.parametrize("dtype", BYTES)
def test_a_tensor_takes_the_bytes_of_its_elements(dtype):
    tape = Tape()
    x = tape.new((3, 5), dtype)
    assert x.size == tape.meter.live == 15 * BYTES[dtype]
    assert bytes_of((), dtype) == BYTES[dtype]


def test_results_keep_the_order_of_dimensions():
    tape = Tape()
    x = views.transpose(tape, computed(tape, (2, 3, 4)), 0, 2)
    assert ops.scalar(tape, x).strides == ops.keep_input(tape, "Silu", x).strides == x.strides
    assert ops.mul(tape, x, x).strides == x.strides
    assert ops.cast(tape, x, "bf16").strides == x.strides
    assert not x.contiguous
    dense = views.contiguous(tape, x)
    assert (dense.node.name, dense.strides, dense.storage is x.storage) == ("Clone", (6, 2, 1), False)
    copied = views.reshape(tape, x, (12, 2))
    assert (copied.node.name, copied.storage is x.storage) == ("UnsafeView", False)


def test_stacked_products_are_flattened_and_looked_at_again():
    tape = Tape()
    q, k = computed(tape, (2, 3, 5, 4)), computed(tape, (2, 3, 4, 7))
    output = products.bmm(tape, q, k)
    assert (output.shape, output.strides) == ((2, 3, 5, 7), (105, 35, 7, 1))
    (product,) = [node for node in tape.nodes if node.name == "Bmm"]
    (first, second) = product.rule(tape, tape.new((6, 5, 7), "fp32"))
    assert (first.shape, second.shape) == ((6, 5, 4), (6, 4, 7))
    assert {(e.slot, e.size) for e in tape.ledger if e.operation == "Bmm"} == {("self", q.size), ("mat2", k.size)}


def test_rows_that_cannot_be_merged_are_copied_first():
    tape = Tape()
    turned = views.transpose(tape, computed(tape, (4, 2, 6)), 0, 1)
    before = len(tape.nodes)
    output = products.mm(tape, turned, computed(tape, (6, 3)))
    assert [node.name for node in tape.nodes[before:] if node.name != "Before"] == ["UnsafeView", "Mm"]
    assert output.shape == (2, 4, 3)


def test_one_part_alone_is_joined_to_itself():
    tape = Tape()
    assert views.cat(tape, [computed(tape, X)]).shape == X


def test_the_gradient_of_weights_is_a_look_at_a_transposed_one():
    tape = Tape()
    output = products.mm(tape, computed(tape, (2, 4, 6)), computed(tape, (6, 3)))
    rows, weights = output.node.rule(tape, tape.new((2, 4, 3), "fp32"))
    assert rows.is_view
    assert rows.strides == (24, 6, 1)
    assert weights.is_view
    assert not products.mm(tape, computed(tape, X), computed(tape, (6, 3))).node.rule(tape, output)[0].is_view
