import pytest

from gradaccum import accumulation
from gradaccum.errors import InputError


@pytest.mark.parametrize(
    "b, a, g, batch", [(4, 8, 1, 32), (4, 8, 4, 128), (1, 1, 1, 1), (12, 5, 8, 480), (10**18, 10**18, 10**18, 10**54)]
)
def test_effective_batch(b, a, g, batch):
    assert accumulation.effective_batch(b, a, g) == batch


@pytest.mark.parametrize("a", [1, 2, 8, 1000])
def test_peak_activation_memory_does_not_know_the_accumulation_steps(a):
    assert accumulation.activation_memory(4, 500_000_000) == 2_000_000_000
    assert accumulation.whole_batch_activation_memory(4, a, 500_000_000) == a * 2_000_000_000


@pytest.mark.parametrize(
    "world, degrees, replicas",
    [
        (8, (), 8),
        (64, (8, 4), 2),
        (2, (2,), 1),
        (64, (2, 2, 2, 2), 4),
    ],
)
def test_replicas_of_a_world(world, degrees, replicas):
    assert accumulation.data_parallel_replicas(world, *degrees) == replicas


def test_a_world_the_degrees_do_not_divide():
    with pytest.raises(InputError) as refused:
        accumulation.data_parallel_replicas(16, 3, 2)
    assert (refused.value.field, refused.value.code) == ("world_size", "not_divisible")


E, B, A, G = accumulation.SPLIT


@pytest.mark.parametrize(
    "given, solved",
    [
        ({E: 512, B: 4, G: 2}, (512, 4, 64, 2)),
        ({E: 512, A: 64, G: 2}, (512, 4, 64, 2)),
        ({E: 512, B: 4, A: 64}, (512, 4, 64, 2)),
        ({B: 4, A: 64, G: 2}, (512, 4, 64, 2)),
        ({E: 512, B: 4, A: 64, G: 2}, (512, 4, 64, 2)),
        ({E: 128, B: 2}, (128, 2, 64, 1)),
        ({E: 128, A: 64}, (128, 2, 64, 1)),
        ({B: 2, A: 64}, (128, 2, 64, 1)),
    ],
)
def test_splits_that_come_out(given, solved):
    assert tuple(accumulation.split(**given).values()) == solved


@pytest.mark.parametrize(
    "given, nearest",
    [
        ({E: 128, B: 1, G: 3}, [(129, 1, 43, 3), (126, 1, 42, 3)]),
        ({E: 64, B: 4, A: 3}, [(60, 4, 3, 5), (72, 4, 3, 6)]),
        ({E: 480, B: 12, G: 16}, [(384, 12, 2, 16), (576, 12, 3, 16)]),
        ({E: 8, B: 3, G: 3}, [(9, 3, 1, 3)]),
        ({E: 7, A: 2}, [(6, 3, 2, 1), (8, 4, 2, 1)]),
    ],
)
def test_splits_that_do_not_divide_name_their_neighbours(given, nearest):
    with pytest.raises(InputError) as refused:
        accumulation.split(**given)
    assert (refused.value.field, refused.value.code) == (E, "not_divisible")
    assert [tuple(entry.values()) for entry in refused.value.details["nearest"]] == nearest


def test_four_that_disagree():
    with pytest.raises(InputError) as refused:
        accumulation.split(100, 3, 4, 5)
    assert (refused.value.field, refused.value.code, refused.value.details["found"]) == (E, "inconsistent", 60)


@pytest.mark.parametrize(
    "given, absent", [({}, [E, B, A]), ({E: 64}, [B, A]), ({E: 64, G: 8}, [B, A]), ({B: 1, G: 8}, [E, A]), ({G: 8}, [E, B, A])]
)
def test_splits_with_too_little_given(given, absent):
    assert accumulation.unsolved(given) == absent
    with pytest.raises(InputError, match="missing"):
        accumulation.split(**given)


@pytest.mark.parametrize(
    "function, field", [(accumulation.effective_batch, "micro_batch"), (accumulation.activation_memory, "micro_batch")]
)
def test_the_core_refuses_what_is_no_count(function, field):
    with pytest.raises(InputError) as refused:
        function(0, 1)
    assert refused.value.field == field


@pytest.mark.parametrize(
    "function, arguments, field",
    [
        (accumulation.effective_batch, (0, 1, 1), B),
        (accumulation.effective_batch, (1, 0, 1), A),
        (accumulation.effective_batch, (1, 1, 0), G),
        (accumulation.activation_memory, (0, 1), B),
        (accumulation.activation_memory, (1, 0), "activation_per_sample"),
        (accumulation.whole_batch_activation_memory, (1, 0, 1), A),
        (accumulation.data_parallel_replicas, (0,), "world_size"),
        *(
            (accumulation.data_parallel_replicas, (8, *[1] * n, 0), name)
            for n, name in enumerate(accumulation.PARALLEL_DEGREES)
        ),
        (accumulation.split, (1, 0), B),
    ],
)
def test_a_count_that_is_none_is_refused_at_its_field(function, arguments, field):
    with pytest.raises(InputError) as refused:
        function(*arguments)
    assert (refused.value.field, refused.value.code) == (field, "not_positive")


@pytest.mark.parametrize(
    "function, arguments, field, code, rule, details",
    [
        (
            accumulation.data_parallel_replicas,
            (16, 3, 2),
            "world_size",
            "not_divisible",
            "world",
            {"value": 16, "world": 16, "product": 6},
        ),
        (accumulation.split, (8,), B, "missing", "split", {}),
        (accumulation.split, (8, 2, 2, 1), E, "inconsistent", "split", {"value": 8, "found": 4}),
        (accumulation.split, (9, 2), E, "not_divisible", "split", {"value": 9, "wanted": 9, "product": 2}),
    ],
)
def test_an_error_says_what_it_found(function, arguments, field, code, rule, details):
    with pytest.raises(InputError) as refused:
        function(*arguments)
    error = refused.value
    assert (error.field, error.code, error.rule) == (field, code, rule)
    assert details.items() <= error.details.items()
