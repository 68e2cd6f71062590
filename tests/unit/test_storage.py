import pytest

from gradaccum import storage
from gradaccum.graph import Parameter


def parameter(*shape, dtype="fp32", **more):
    return Parameter("w", shape, dtype, **{"trainable": True} | more)


MATRIX, VECTOR, FROZEN = parameter(100, 200), parameter(200), parameter(100, 200, trainable=False)
HALF, BIG = parameter(100, 200, dtype="bf16"), parameter(64, 128)


@pytest.mark.parametrize(
    "count, size",
    [(1, 1 + 1 + 4 + 1092 - 0), (64, 32 + 1 + 4 + 1092), (65, 33 + 2 + 4 + 1092), (64 * 256 + 1, 8193 + 257 + 8 + 1092)],
)
def test_nf4(count, size):
    assert storage.nf4_bytes(count) == size


@pytest.mark.parametrize(
    "parameters, weights, gradients",
    [
        ([(MATRIX, 3), (VECTOR, 1)], 240_800, 240_800),
        ([(FROZEN, 2), (HALF, 1)], 200_000, 40_000),
        ([(parameter(64, 1, dtype="bf16", trainable=False, quantized=True), 2)], 2 * 1129, 0),
    ],
)
def test_weights_and_gradients(parameters, weights, gradients):
    assert storage.weight_bytes(parameters) == weights
    assert storage.gradient_bytes(parameters) == gradients


@pytest.mark.parametrize(
    "optimizer, one, state",
    [
        ("adamw", MATRIX, 160_000),
        ("adamw", HALF, 80_000),
        ("sgd-momentum", MATRIX, 80_000),
        ("sgd", MATRIX, 0),
        ("adamw-8bit", VECTOR, 1600),
        ("adamw-8bit", MATRIX, 2 * (20_000 + 4 * 79)),
        ("adafactor", MATRIX, 4 * 300),
        ("adafactor", VECTOR, 800),
        ("adafactor", parameter(8, 10, 20), 4 * 8 * 30),
        ("adamw", FROZEN, 0),
    ],
)
def test_optimizer_state(optimizer, one, state):
    assert storage.optimizer_bytes([(one, 2)], optimizer) == 2 * state


@pytest.mark.parametrize(
    "optimizer, foreach, parameters, size",
    [
        ("adamw", True, [(MATRIX, 3), (VECTOR, 1)], 240_800),
        ("adamw", False, [(MATRIX, 3), (VECTOR, 1)], 160_000),
        ("adamw", False, [(VECTOR, 1), (MATRIX, 3)], 160_800),
        ("adamw", False, [(MATRIX, 1), (FROZEN, 1), (MATRIX, 1)], 240_000),
        ("adafactor", True, [(MATRIX, 3)], 160_000),
        ("adafactor", True, [(HALF, 3)], 320_000),
        ("sgd", True, [(MATRIX, 3)], 0),
        ("adamw", True, [(FROZEN, 3)], 0),
        ("adamw", False, [], 0),
    ],
)
def test_temporaries_of_a_step(optimizer, foreach, parameters, size):
    assert storage.step_bytes(parameters, optimizer, foreach=foreach) == size


def test_tensors_of_the_least_size_are_in_eight_bits_and_smaller_ones_are_not():
    assert storage.optimizer_bytes([(parameter(64, 64), 1)], "adamw-8bit") == 2 * (4096 + 4 * 16)
    assert storage.optimizer_bytes([(parameter(4095), 1)], "adamw-8bit") == 8 * 4095


def test_sizes_are_whole_numbers():
    assert isinstance(storage.optimizer_bytes([(MATRIX, 1)], "adafactor"), int)


def test_the_largest_tensor_is_that_of_the_most_bytes():
    """30,000 bf16 weights are fewer bytes than 20,000 fp32 weights."""
    assert storage.step_bytes([(parameter(30_000, dtype="bf16"), 1), (MATRIX, 1)], "adafactor", foreach=True) == 4 * 20_000 * 2
