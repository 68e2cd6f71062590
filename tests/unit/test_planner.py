import itertools
from fractions import Fraction
from typing import ClassVar

import pytest

from gradaccum import costs, planner, training
from gradaccum.activations import parameters_of
from gradaccum.models import chosen
from gradaccum.setting import Setting

ONE = costs.without_model(64, Fraction(1))


def way(fixed, per_sample, **more):
    return planner.Way(planner.Linear(fixed, per_sample), ONE, **more)


def sizes(found):
    return [(c.micro_batch, c.accumulation_steps, c.peak) for c in found]


@pytest.mark.parametrize(
    "budget, expected",
    [
        (10, []),
        (11, [(1, 64, 11)]),
        (13, [(2, 32, 12), (1, 64, 11)]),
        (14, [(4, 16, 14), (2, 32, 12), (1, 64, 11)]),
        (10**6, [(64, 1, 74), (32, 2, 42), (16, 4, 26)]),
    ],
)
def test_larger_micro_batches_come_first(budget, expected):
    assert sizes(planner.search([way(10, 1)], 64, budget, 3)) == expected


def test_preference_goes_before_time_and_order_parts_equals():
    first, second = way(10, 8, preference=(0,), order=(1,)), way(10, 1, preference=(1,), order=(0,))
    found = planner.search([second, first], 64, 26, 9)
    assert [(c.way, c.micro_batch) for c in found] == [(first, 2), (first, 1), *((second, b) for b in (16, 8, 4, 2, 1))]
    equal = way(10, 8, preference=(0,), order=(0,))
    assert [c.way for c in planner.search([first, equal], 64, 26, 2)] == [equal, first]


class Buffered:
    """A gradient buffer that only a second micro-batch needs."""

    least = 0

    def at(self, micro_batch, accumulation_steps):
        return micro_batch + (100 if accumulation_steps > 1 else 0)


def test_the_whole_at_once_may_fit_where_no_part_does():
    only = planner.Way(Buffered(), ONE)
    assert sizes(planner.search([only], 8, 50, 9)) == [(8, 1, 8)]
    assert planner.smallest([only], 8).peak == 8
    assert planner.next_larger(planner.candidate(only, 8, 8), 8) is None
    assert planner.next_larger(planner.candidate(only, 8, 2), 8).micro_batch == 4


class Counting(planner.Linear):
    """Writes down which micro-batches it is asked about."""

    asked: ClassVar[list[int]] = []

    def at(self, micro_batch, accumulation_steps):
        self.asked.append(micro_batch)
        return super().at(micro_batch, accumulation_steps)


@pytest.mark.parametrize("largest", [1, 60, 1001])
def test_what_does_not_fit_is_not_looked_at_one_by_one(largest):
    batch, per_sample = 73_513_440, 10**6
    sizes = planner.divisors(batch)
    Counting.asked.clear()
    found = planner.search([planner.Way(Counting(10, per_sample), ONE)], batch, 10 + largest * per_sample, 3)
    assert [c.micro_batch for c in found] == [b for b in reversed(sizes) if b <= largest][:3]
    # Halving the list of divisors finds the edge.
    assert len(Counting.asked) < 2 * len(sizes).bit_length()


@pytest.mark.parametrize("fixed, per_sample", [(10, 3), (1, 50)])
def test_the_least_of_a_sum_is_one_sample(fixed, per_sample):
    assert planner.Linear(fixed, per_sample).least == fixed + per_sample


class Uneven:
    """What any micro-batch needs at the least, what one sample needs beside a buffer, and each sample without one."""

    def __init__(self, least, alone, buffered):
        self.least, self.alone, self.buffered, self.asked = least, alone, buffered, 0

    def at(self, micro_batch, accumulation_steps):
        self.asked += 1
        return self.buffered + micro_batch if accumulation_steps > 1 else self.alone * micro_batch


def test_that_nothing_fits_takes_one_look():
    need = Uneven(5, 80, 90)
    assert planner.search([planner.Way(need, ONE)], 720_720, 50, 9) == []
    assert need.asked == 1
    assert planner.search([planner.Way(Counting(60, 1), ONE)], 720_720, 50, 9) == []


@pytest.mark.parametrize("per_replica", [1, 2, 6])
def test_the_smallest_of_all_ways_in_any_order(per_replica):
    needs = [
        (least, alone, buffered) for least in (1, 4) for alone in (4, 7, 9) for buffered in (3, 5, 8) if alone <= buffered + 1
    ]
    for three in itertools.permutations(needs, 3):
        every = [planner.Way(Uneven(*need), ONE) for need in three]
        both = [planner.candidate(way, per_replica, b).peak for way in every for b in (1, per_replica)]
        assert planner.smallest(every, per_replica).peak == min(both)


class OddOne:
    """One sample at a time needs more than two at a time."""

    least = 0

    def at(self, micro_batch, accumulation_steps):
        return 9 if micro_batch == 1 < accumulation_steps else micro_batch


def test_a_size_that_does_not_fit_is_left_out_among_those_that_do():
    assert sizes(planner.search([planner.Way(OddOne(), ONE)], 4, 5, 9)) == [(4, 1, 4), (2, 2, 2)]


def test_the_smallest_of_several_ways():
    assert planner.smallest([way(10, 5), way(3, 9), way(30, 1)], 64).peak == 12
    with pytest.raises(ValueError, match="no way"):
        planner.smallest([], 64)


DEVICE = costs.Device(Fraction(10**12), Fraction(10**9), Fraction(10**6))


def cost(model="gpt2", device=DEVICE, **more):
    setting = {name: more.pop(name) for name in ("checkpointing", "method", "precision") if name in more}
    run = training.Plan(chosen({"model": model}), Setting(**setting), 1, 128, **more)
    parameters = parameters_of(run.architecture, run.setting)
    return costs.of_run(run, training.fixed(run, parameters), parameters, 64, device)


def test_parts_of_the_time():
    full, again, lora = cost(), cost(checkpointing="full"), cost(method="lora")
    assert full.update.compute == 1
    assert (full.update.recomputation, again.update.recomputation) == (0, Fraction(1, 3))
    assert again.idle == full.idle * 3 / 2
    assert Fraction(2, 3) < lora.update.compute < Fraction(7, 10)
    assert lora.update.optimizer < full.update.optimizer / 10
    assert full.at(8).idle == 8 * full.idle
    assert full.at(8).total == full.update.compute + 8 * full.idle + full.update.optimizer
    assert full.update.reduction == full.reduction == 0
    assert cost(device=costs.Device(DEVICE.compute, 2 * DEVICE.memory)).idle == full.idle / 2
    assert cost(method="qlora").idle > lora.idle


@pytest.mark.parametrize(
    "sharding, deferred, per_update, per_micro_batch",
    [
        ("none", False, 2, 0),
        ("zero1", False, 2, 0),
        ("zero2", False, 1, 1),
        ("zero2", True, 2, 0),
        ("zero3", False, 0, 3),
        ("zero3", True, 1, 2),
    ],
)
def test_bytes_on_the_network(sharding, deferred, per_update, per_micro_batch):
    """In units of one gradient scattered; weights and gradients of a model in bf16 are the same number of bytes."""
    found = cost(replicas=4, sharding=sharding, defer_reduction=deferred)
    unit = cost(replicas=4).update.reduction / 2
    assert found.update.reduction == per_update * unit
    assert found.reduction == per_micro_batch * unit


def test_operations_of_a_forward_pass():
    def operations(model, tokens):
        architecture = chosen({"model": model})
        return costs.forward_operations(architecture, parameters_of(architecture, Setting()), tokens)

    assert operations("gpt2", 1) == 2 * 124_439_808 + 4 * 12 * 768
    assert operations("gpt2", 100) == 100 * (2 * 124_439_808 + 4 * 12 * 768 * 100)
    # 13 of 47 billion weights meet a token, and attention reaches 4,096 tokens back where a window says so.
    assert 12.5e9 < operations("mixtral-8x7b-v0.1", 1) / 2 < 13.5e9
    windowed = {"model_type": "mistral", "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2}
    windowed |= {"num_attention_heads": 4, "vocab_size": 100, "sliding_window": 16}
    architecture = chosen({"config": windowed})
    parameters = parameters_of(architecture, Setting())
    weights = sum(p.count * times for p, times in parameters)
    assert costs.forward_operations(architecture, parameters, 100) == 100 * (2 * weights + 4 * 64 * 2 * 16)


def test_tokens_of_an_image_are_its_patches():
    assert costs.tokens_of(chosen({"model": "vit-base-patch16-224"}), 8) == 197
    assert costs.tokens_of(chosen({"model": "gpt2"}), 8) == 8


class Whole:
    """Needs ten bytes a sample, and is asked about whole numbers alone."""

    least = 0

    def at(self, micro_batch, accumulation_steps):
        assert isinstance(micro_batch, int)
        assert isinstance(accumulation_steps, int)
        return 10 * micro_batch


def test_a_size_is_held_against_the_budget_by_what_it_needs():
    assert sizes(planner.search([planner.Way(Whole(), ONE)], 12, 45, 9)) == [(4, 3, 40), (3, 4, 30), (2, 6, 20), (1, 12, 10)]


def test_a_way_is_looked_into_while_its_fastest_could_be_next():
    """The first takes 1 + 10 a, the second 15 + a: with one micro-batch the first is faster, though not with two."""
    first, second = (
        planner.Way(planner.Linear(1, 1), costs.Costs(costs.Time(Fraction(update)), Fraction(idle)))
        for update, idle in ((1, 10), (15, 1))
    )
    assert [c.way for c in planner.search([first, second], 1, 10, 2)] == [first, second]
