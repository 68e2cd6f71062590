import pytest

from gradaccum import operations as ops
from gradaccum import products, views
from gradaccum.graph import Checkpoint, Meter, Tensor
from gradaccum.tape import Tape

H = 8


def weights(tape, name="w", rows=H, columns=H, **more):
    return tape.parameter(name, (rows, columns), "fp32", **{"trainable": True} | more)


def backward(tape, output):
    tape.backward({output.take_node(): tape.new(output.shape, output.dtype)})


def test_memory_is_freed_with_the_last_reference():
    tape = Tape()
    x = tape.new((4, H), "fp32")
    y = Tensor((H, 4), (1, H), "fp32", x.storage)
    assert (x.size, x.contiguous, y.contiguous) == (128, True, False)
    assert tape.meter.live == 128
    del x
    assert tape.meter.live == 128
    del y
    assert (tape.meter.live, tape.meter.peak) == (0, 128)
    tape.meter.restart()
    assert tape.meter.peak == 0


def test_of_equal_peaks_the_meter_tells_the_buffers_of_the_first():
    meter = Meter()
    meter.add(8)
    assert (meter.peak, meter.gradients_at_peak, meter.rest_peak) == (8, 0, 8)
    meter.live -= 8
    meter.gradients = 3
    meter.add(8)
    assert (meter.peak, meter.gradients_at_peak, meter.rest_peak) == (8, 0, 8)
    meter.add(1)
    assert (meter.peak, meter.gradients_at_peak, meter.rest_peak) == (9, 3, 8)
    meter.forget_last()
    assert (meter.live, meter.peak, meter.rest_peak) == (9, 8, 8)


def test_the_graph_keeps_what_the_backward_pass_needs_once():
    tape = Tape()
    x = tape.new((4, H), "fp32")
    with tape.scope("layer"), tape.scope("mlp"):
        y = ops.keep_input(tape, "Silu", products.mm(tape, x, weights(tape)))
        products.mm(tape, x, weights(tape, "w2"))
    assert [(e.module, e.operation, e.slot, e.size) for e in tape.ledger] == [
        ("layer.mlp", "Mm", "self", 128),
        ("layer.mlp", "Silu", "self", 128),
    ]
    del x
    live = tape.meter.live
    backward(tape, y)
    assert tape.parameters["layer.mlp.w"].grad.size == 4 * H * H
    assert tape.meter.gradients == 4 * H * H
    del y
    assert live == 3 * 128
    assert tape.meter.live == 4 * H * H


def test_nothing_is_recorded_without_learning():
    tape = Tape()
    x = tape.new((4, H), "fp32")
    y = products.mm(tape, x, weights(tape, "frozen", trainable=False))
    assert tape.nodes == []
    with pytest.raises(TypeError, match=r"^no gradient flows back to this tensor$"):
        y.take_node()


@pytest.mark.parametrize("shards, buffer", [(1, 4 * H * H), (3, 86), (1000, 1)])
def test_a_sharded_buffer_is_a_part_of_the_gradient(shards, buffer):
    tape = Tape(gradient_shards=shards)
    for _ in range(2):
        backward(tape, products.mm(tape, tape.new((4, H), "fp32"), weights(tape)))
        assert tape.meter.live == tape.meter.gradients == buffer


def test_tied_weights_sum_their_gradients_before_the_buffer():
    tape = Tape()
    x = products.mm(tape, tape.new((4, H), "fp32"), weights(tape))
    y = products.mm(tape, x, weights(tape))
    del x
    tape.meter.restart()
    backward(tape, y)
    del y
    assert tape.meter.live == tape.meter.gradients == 4 * H * H
    assert tape.parameters["w"].uses == 0
    assert tape.parameters["w"].waiting is None


def test_a_tensor_used_twice_gets_the_sum_of_both_gradients():
    tape = Tape()
    x = products.mm(tape, tape.new((4, H), "fp32"), weights(tape))
    y = ops.mul(tape, ops.scalar(tape, x), ops.scalar(tape, x))
    z = ops.add(tape, x, x)
    del x
    backward(tape, y)
    assert tape.parameters["w"].grad.size == 4 * H * H
    del y
    tape = Tape()
    x = products.mm(tape, tape.new((4, H), "fp32"), weights(tape))
    z = ops.add(tape, x, x)
    backward(tape, z)
    assert tape.parameters["w"].grad.size == 4 * H * H


def test_steps_no_gradient_reaches_are_passed_over():
    tape = Tape()
    x = products.mm(tape, tape.new((4, H), "fp32"), weights(tape))
    ops.scalar(tape, x)
    y = ops.scalar(tape, x)
    ops.scalar(tape, y)
    del x
    backward(tape, y)
    assert tape.nodes == []


def two_uses(tape, x, first, second):
    """The peak above what was alive before, of a backward pass in which x gets the gradients of two uses."""
    total = ops.add(tape, first(x), second(x))
    before = tape.meter.live
    tape.meter.restart()
    backward(tape, total)
    return (tape.meter.peak - before) // x.size


def test_a_second_gradient_is_added_into_the_first_unless_that_is_a_view():
    in_place, apart = Tape(), Tape()
    # From the end: the incoming gradient is the second use's; the first use's is made, and only a view needs a third for the sum.
    assert (
        two_uses(in_place, in_place.parameter("x", (4, H), "fp32", trainable=True), *[lambda x: ops.scalar(in_place, x)] * 2)
        == 3
    )
    x = ops.scalar(apart, apart.parameter("x", (4, H), "fp32", trainable=True))
    turned = two_uses(
        apart,
        x,
        lambda x: ops.scalar(apart, x),
        lambda x: views.transpose(apart, views.transpose(apart, ops.scalar(apart, x), 0, 1), 0, 1),
    )
    assert turned == 3


def test_a_gradient_that_two_weights_wait_for_is_copied_for_one_of_them():
    tape = Tape()
    backward(tape, ops.add(tape, weights(tape, "a"), weights(tape, "b")))
    first, second = (parameter.grad for parameter in tape.parameters.values())
    assert first is not second
    assert tape.meter.live == tape.meter.gradients == 2 * 4 * H * H


@pytest.mark.parametrize("last, peak", [("input", 3), ("result", 4)])
def test_a_checkpoint_runs_again_until_its_last_kept_tensor_is_there(last, peak):
    tape = Tape()
    x = ops.scalar(tape, weights(tape))

    def part():
        y = ops.keep_input(tape, "Silu", ops.scalar(tape, x))
        y = ops.keep_input(tape, "Silu", y) if last == "input" else ops.keep_result(tape, "Tanh", y)
        return ops.scalar(tape, y)

    checkpoint = tape.packing = Checkpoint(part, [x.storage])
    output = part()
    tape.packing = None
    # Nothing but what goes in and what comes out is alive.
    assert (checkpoint.promised, tape.meter.live // x.size) == (2, 2)
    del output
    tape.meter.restart()
    tape.rerun(checkpoint)
    # What goes in, what both functions keep, and the last one's input where it is not what that keeps.
    assert tape.meter.peak // x.size == peak
    assert len(checkpoint.found) == 2
