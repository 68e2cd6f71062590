from fractions import Fraction

import pytest

from gradaccum import schedule
from gradaccum.errors import InputError

F = Fraction


@pytest.mark.parametrize(
    "samples, b, a, g, epochs, drop_last, last_window, found",
    [
        # found: micro-batches per epoch, updates per epoch, total updates, last window, its scale
        (240_000, 1, 4, 8, 1, False, "step", (30_000, 7_500, 7_500, 0, 1)),
        (900, 1, 8, 2, 10, False, "step", (450, 57, 570, 2, F(1, 4))),
        (900, 1, 8, 2, 10, False, "drop", (450, 56, 560, 2, F(1, 4))),
        (900, 1, 8, 2, 10, False, "carry", (450, 56, 562, 4, F(1, 2))),
        (10, 4, 1, 1, 1, True, "step", (2, 2, 2, 0, 1)),
        (10, 4, 1, 1, 1, False, "step", (3, 3, 3, 0, 1)),
        (3, 1, 8, 1, 4, False, "step", (3, 1, 4, 3, F(3, 8))),
        (3, 1, 8, 1, 4, False, "carry", (3, 0, 1, 4, F(1, 2))),
        (3, 1, 4, 1, 1, False, "drop", (3, 0, 0, 3, F(3, 4))),
        (3, 4, 1, 1, 1, True, "step", (0, 0, 0, 0, 1)),
    ],
)
def test_updates_of_a_run(samples, b, a, g, epochs, drop_last, last_window, found):
    counts = schedule.updates(samples, b, a, g, epochs, drop_last=drop_last, last_window=last_window)
    assert counts == schedule.Updates(*found)


def test_updates_refuse_what_is_no_count():
    with pytest.raises(InputError, match="accumulation_steps"):
        schedule.updates(10, 1, 0)


def test_a_warmup_ratio_is_a_decimal():
    assert schedule.warmup_updates(F(1, 10), 250) == 25
    assert schedule.warmup_updates(F(1, 10), 251) == 26
    assert schedule.warmup_updates(F(0), 250) == 0


def test_time_of_a_window_and_of_a_run():
    counts = schedule.updates(100, 1, 8)
    assert schedule.window_seconds(8, F(1, 4), F(1, 2)) == F(5, 2)
    assert schedule.run_seconds(counts, 2, F(1), F(2)) == 2 * 100 + 2 * 13


@pytest.mark.parametrize(
    "old, new, rule, factor",
    [
        (256, 1024, "linear", 4),
        (256, 1024, "square-root", 2),
        (1024, 256, "square-root", F(1, 2)),
        (256, 1024, "none", 1),
        (512, 512, "square-root", 1),
    ],
)
def test_learning_rate_factor(old, new, rule, factor):
    assert schedule.learning_rate_factor(old, new, rule) == factor


def test_a_root_that_is_no_fraction_squares_to_the_ratio():
    root = schedule.learning_rate_factor(256, 512, "square-root")
    assert abs(Fraction(root) ** 2 - 2) < Fraction(1, 10**45)


@pytest.mark.parametrize("new, beta", [(512, 0.95), (64, 0.9936), (1, 0.9999), (1024, 0.9025)])
def test_beta2_keeps_its_half_life_in_samples(new, beta):
    assert float(schedule.rescaled_beta(F(95, 100), 512, new)) == pytest.approx(beta, abs=5e-5)
    assert float(schedule.rescaled_beta(F(95, 100), 512, new)) == pytest.approx(0.95 ** (new / 512), rel=1e-14)


@pytest.mark.parametrize("count, old, new, rescaled", [(1000, 512, 256, 2000), (1000, 512, 768, 667), (1, 1, 10**18, 1)])
def test_rescaled_updates_see_at_least_as_many_samples(count, old, new, rescaled):
    assert schedule.rescaled_updates(count, old, new) == rescaled


@pytest.mark.parametrize(
    "place, field", list(enumerate(["samples", "micro_batch", "accumulation_steps", "replicas", "epochs"]))
)
def test_a_run_of_nothing_is_refused_at_its_field(place, field):
    counts = [1] * 5
    counts[place] = 0
    with pytest.raises(InputError) as refused:
        schedule.updates(*counts)
    assert (refused.value.field, refused.value.code) == (field, "not_positive")


def test_the_last_batch_is_kept_unless_told_otherwise():
    assert schedule.updates(3, 2, 1).micro_batches_per_epoch == 2


def test_a_run_s_time_grows_with_that_of_a_micro_batch():
    assert (
        schedule.run_seconds(schedule.updates(8, 1, 4, 1, 3), 3, Fraction(1, 2), Fraction(5)) == 8 * 3 * Fraction(1, 2) + 6 * 5
    )


def test_a_rational_root_is_exact():
    assert isinstance(schedule.learning_rate_factor(1024, 256, "square-root"), Fraction)
