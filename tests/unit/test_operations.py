import pytest

from gradaccum import operations as ops
from gradaccum import products, views
from gradaccum.tape import Tape


def learning(tape, *shape, dtype="fp32"):
    x = tape.new(shape, dtype)
    x.node = tape.parameter("p", shape, dtype, trainable=True).parameter
    return x


@pytest.mark.parametrize(
    "one, two, dtype",
    [
        ("bf16", "bf16", "bf16"),
        ("bf16", "fp32", "fp32"),
        ("fp16", "bf16", "fp32"),
        ("fp16", "fp32", "fp32"),
        ("bool", "int64", "int64"),
        ("int64", "fp16", "fp16"),
    ],
)
def test_mixed_dtypes_meet(one, two, dtype):
    assert ops.promoted(one, two) == ops.promoted(two, one) == dtype


@pytest.mark.parametrize("autocast, dtype", [(None, "fp32"), ("bf16", "bf16"), ("fp16", "fp16")])
def test_autocast_lowers_products_and_raises_sensitive_operations(autocast, dtype):
    tape = Tape(autocast)
    x, weight = tape.new((4, 8), "fp32"), tape.parameter("w", (8, 8), "fp32", trainable=True)
    y = products.mm(tape, x, weight)
    assert y.dtype == dtype
    assert ops.upper(tape, y).dtype == "fp32"
    assert list(tape.autocast_cache) == (["w"] if autocast else [])
    assert products.mm(tape, x, weight).dtype == dtype


def test_a_reshape_copies_only_where_it_must():
    tape = Tape()
    x = learning(tape, 2, 3, 4)
    assert views.reshape(tape, x, (6, 4)).storage is x.storage
    turned = views.transpose(tape, x, 0, 1)
    assert turned.storage is x.storage
    assert views.reshape(tape, turned, (6, 4)).storage is not x.storage
    assert views.contiguous(tape, x) is x
    assert views.contiguous(tape, turned).contiguous
    assert ops.cast(tape, x, "fp32") is x


@pytest.mark.parametrize(
    "heads, repeats, copy, shared", [(2, 1, False, True), (1, 4, False, True), (1, 4, True, False), (2, 2, False, False)]
)
def test_heads_are_repeated(heads, repeats, copy, shared):
    tape = Tape()
    x = learning(tape, 2, heads, 3, 4)
    y = views.expand_heads(tape, x, repeats, copy=copy)
    assert y.shape == (2, heads * repeats, 3, 4)
    assert (y.storage is x.storage) is shared


@pytest.mark.parametrize("quantized, most", [(False, 0), (True, 2 * 8 * 8)])
def test_quantized_weights_are_unpacked_and_freed(quantized, most):
    tape = Tape()
    weight = tape.parameter("w", (8, 8), "bf16", trainable=False, quantized=quantized)
    x = learning(tape, 4, 8, dtype="bf16")
    before = tape.meter.live
    tape.meter.restart()
    y = products.mm(tape, x, weight)
    assert tape.meter.live - before == y.size
    assert tape.meter.peak - before == y.size + most
    tape.backward({y.take_node(): tape.new(y.shape, y.dtype)})
    assert tape.parameters["p"].grad.size == x.size


def test_slices_share_their_memory():
    tape = Tape()
    x = learning(tape, 4, 8)
    pieces = views.split(tape, x, (2, 6))
    assert [piece.shape for piece in pieces] == [(4, 2), (4, 6)]
    assert {id(piece.storage) for piece in pieces} == {id(x.storage)}
    assert all(piece.node is None for piece in views.split(tape, tape.new((4, 8), "fp32"), (4, 4)))
