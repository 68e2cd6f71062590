"""The experiments: exact values, derived again by hand beside each row, and what every one of them must keep to."""

import json
import math
import struct
from fractions import Fraction

import pytest

from gradaccum import api
from gradaccum.calculators import CALCULATORS
from gradaccum.drawing import Drawing, Series, worded
from gradaccum.experiments import (
    batch_norm,
    clipping,
    contrastive,
    gradient_precision,
    last_window,
    loss_scaling,
    schedule_units,
    vectors,
)

EXPERIMENT = CALCULATORS["experiment"]
NAMES = [name for name in EXPERIMENT.variants if name != "list"]
CONTRACT = [
    "loss_scaling",
    "token_normalisation",
    "rank_averaging",
    "batch_norm",
    "last_window",
    "clipping",
    "gradient_precision",
    "loss_scaler",
    "schedule_units",
    "contrastive",
    "additive_losses",
    "weight_decay",
    "moving_average",
    "summed_losses",
    "reduction_cost",
    "small_batch",
]


def ask(name, language="en", *, view=False, **inputs):
    return api.answer({"calculator": "experiment", "inputs": {"name": name, **inputs}, "language": language, "view": view})


def outputs(name, **inputs):
    answer = ask(name, **inputs)
    assert answer["ok"], answer
    return answer["outputs"]


def test_the_list_names_every_experiment_of_the_contract():
    rows = outputs("list")["experiments"]
    assert [row["experiment"] for row in rows] == CONTRACT == NAMES
    assert rows[5]["inputs"] == ["gradients", "limit", "divided", "loss_scale"]


SQUARES = Fraction(sum(x * x for x in range(1, 9)), 8)  # 25.5, the mean of x^2 for x = 1..8

VALUES = [
    # loss (w x - 2 x)^2 at w = 0: gradient -4 mean x^2 = -102; times 0.02.
    ("loss_scaling", {}, {"right_update": 4 * SQUARES / 50, "wrong_never_divided": 16 * SQUARES / 50, "wrong_divided_twice": SQUARES / 50}),
    ("loss_scaling", {}, {"right_update": 2.04, "wrong_never_divided": 8.16, "wrong_divided_twice": 0.51, "full_batch_update": 2.04}),
    # Only x = 7 and 8 are left, a quarter of their gradient: 0.02 * 4 * 56.5 / 4.
    ("loss_scaling", {}, {"wrong_zeroed_each_time": Fraction(113, 100)}),
    # w moves to 0.2, then 1.1, then 2.198, then back past 2: each -0.02 * 2 (w - 2) mean x^2.
    ("loss_scaling", {}, {"wrong_stepped_each_time": Fraction(175052, 100000)}),
    ("loss_scaling", {"accumulation_steps": 1}, {"right_update": Fraction(1, 5), "wrong_never_divided": Fraction(1, 5)}),
    # (2 * 4 + 8 * 1) / 10 and (4 + 1) / 2; weights 10 / (2 * 2) and 10 / (2 * 8).
    ("token_normalisation", {}, {"right_loss": Fraction(8, 5), "wrong_loss": Fraction(5, 2), "token_weights": [[2.5, 0.625]]}),
    ("token_normalisation", {}, {"right_gradient": [Fraction(4, 5)] * 2, "wrong_gradient": [2, Fraction(1, 2)]}),
    ("token_normalisation", {"tokens": "0 5", "losses": "- 2"}, {"right_loss": 2, "wrong_loss": 1, "right_gradient": [0, 1]}),
    # 136 / (2 * 52) and 136 / (2 * 84).
    ("rank_averaging", {}, {"token_weights": [[Fraction(17, 13)], [Fraction(17, 21)]], "wrong_factor": Fraction(1, 2)}),
    ("rank_averaging", {}, {"right_gradient": [Fraction(52, 136), Fraction(84, 136)], "wrong_local_means": [Fraction(1, 2)] * 2}),
    ("rank_averaging", {}, {"wrong_without_replicas": [Fraction(26, 136), Fraction(42, 136)]}),
    # x = 0..7: mean 3.5, unbiased variance 6; 0.9 * 1 + 0.1 * 6. In pairs each variance is 0.5: 0.9^4 + (1 - 0.9^4) / 2.
    ("batch_norm", {}, {"right_running_mean": Fraction(7, 20), "right_running_variance": Fraction(3, 2)}),
    ("batch_norm", {}, {"wrong_running_variance": (Fraction(9, 10) ** 4 + 1) / 2, "corrected_running_variance": 0.95}),
    ("batch_norm", {}, {"wrong_running_mean": sum(Fraction(9, 10) ** (3 - i) * Fraction(4 * i + 1, 20) for i in range(4))}),
    ("batch_norm", {}, {"corrected_momentum": 1 - 0.9**0.25, "frozen_gradient_gap": 0}),
    # Whole batch: 1 - sigma with sigma^2 = 21/4; in pairs every sample becomes -1 or 1 and sigma is 1/2.
    ("batch_norm", {}, {"right_scale_gradient": 1 - math.sqrt(21 / 4), "wrong_scale_gradient": 0.5}),
    ("last_window", {}, {"right_last_update": 1, "wrong_last_update": Fraction(1, 2), "right_updates": 6, "carried_updates": 5}),
    ("last_window", {"micro_batches": 3, "accumulation_steps": 8, "epochs": 4}, {"wrong_last_update": Fraction(3, 8), "right_updates": 4, "carried_updates": 1}),
    # (1, 1) clipped to 1; ((1, 0) + (0, 2)) clipped to 1 is (1, 2) / sqrt 5; (1, 0) and (0, 1) averaged.
    ("clipping", {}, {"right_gradient": [math.sqrt(1 / 2)] * 2, "wrong_buffer_clipped": [math.sqrt(1 / 5), math.sqrt(4 / 5)]}),
    ("clipping", {}, {"wrong_each_clipped": [Fraction(1, 2)] * 2}),
    ("clipping", {"gradients": [["0.5"]]}, {"mean_norm": Fraction(1, 2), "wrong_norm_before_unscaling": Fraction(1, 2**16)}),
    ("clipping", {"gradients": "4 0; 0 4", "divided": True}, {"wrong_buffer_clipped": [math.sqrt(1 / 5), math.sqrt(4 / 5)]}),
    ("clipping", {"gradients": "0 0"}, {"right_gradient": [0, 0], "wrong_buffer_clipped": [0, 0]}),
    ("gradient_precision", {"accumulation_steps": 256}, {"wrong_mean": 1, "wrong_sum": 256, "stuck_at": 256}),
    ("gradient_precision", {"accumulation_steps": 512}, {"wrong_mean": Fraction(1, 2)}),
    ("gradient_precision", {"accumulation_steps": 1024}, {"wrong_mean": Fraction(1, 4)}),
    ("gradient_precision", {}, {"wrong_mean": Fraction(1, 16), "right_mean": 1, "wrong_sum": 256}),
    ("gradient_precision", {"buffer_dtype": "fp16"}, {"wrong_mean": Fraction(1, 2), "wrong_sum": 2048, "stuck_at": 2048}),
    ("loss_scaler", {}, {"right_sum": 2, "wrong_sum": Fraction(3, 2), "scale_after_overflow": 32768}),
    ("loss_scaler", {"overflow_probability": "0.5"}, {"window_skip_probability": Fraction(3, 4)}),
    ("schedule_units", {}, {"right_rate": Fraction(3, 4), "wrong_rate_micro_steps": 0, "wrong_rate_per_process": Fraction(1, 2)}),
    (
        "schedule_units",
        {"total_updates": 100000, "warmup_updates": 10000, "accumulation_steps": 2, "replicas": 8},
        {"wrong_warmup_end": 2500, "right_warmup_end": 10000, "wrong_end_per_process": 12500},
    ),
    ("contrastive", {}, {"right_chance_loss": math.log(8), "wrong_chance_loss": math.log(2), "cached_gradient_error": 0}),
    ("contrastive", {"micro_batch": 1, "accumulation_steps": 8}, {"wrong_chance_loss": 0, "wrong_loss": 0, "gradient_error": 1}),
    # 2 * 4 / (5 + 5) and (1 + 0) / 2; sqrt((1 + 9) / 2) and (1 + 3) / 2; 2 (1/4 + 1/4) and 2 (1 + 0).
    ("additive_losses", {}, {"right_dice": Fraction(4, 5), "wrong_dice": Fraction(1, 2), "right_rmse": math.sqrt(5), "wrong_rmse": 2}),
    ("additive_losses", {}, {"right_load_balance": 1, "wrong_load_balance": 2}),
    ("weight_decay", {}, {"right_shrinkage": (1 - 1e-4) ** 1000, "wrong_shrinkage": (1 - 1e-4) ** 8000, "right_updates": 1000}),
    ("moving_average", {}, {"right_half_life": math.log(0.5) / math.log(0.999), "wrong_half_life": math.log(0.5) / math.log(0.999) / 8}),
    ("moving_average", {}, {"wrong_decay_per_update": 0.999**8, "matching_decay": 0.999 ** (1 / 8)}),
    # 49152 + 8 * 2304, and sixteen times that.
    ("summed_losses", {}, {"right_memory": 67584, "wrong_memory": 1081344, "wrong_factor": 16}),
    # c = (4 * 0.91 - 2) / 3, r = 2 - c.
    ("reduction_cost", {}, {"compute_seconds": Fraction(164, 300), "reduction_seconds": Fraction(436, 300)}),
    ("reduction_cost", {}, {"right_seconds": Fraction(164, 300) + Fraction(436, 2400), "largest_speedup": Fraction(600, 164)}),
    ("small_batch", {}, {"right_beta2": 0.95 ** (1 / 512), "updates_factor": 512}),
    ("small_batch", {}, {"right_half_life_samples": 512 * math.log(0.5) / math.log(0.95), "wrong_half_life_samples": math.log(0.5) / math.log(0.95)}),
]  # fmt: skip


def plain(value):
    """Its numbers in one row."""
    return [number for one in value for number in plain(one)] if isinstance(value, list) else [float(value)]


@pytest.mark.parametrize("name, inputs, expected", VALUES)
def test_values(name, inputs, expected):
    found = outputs(name, **inputs)
    for output, value in expected.items():
        # The gradient of the scale carries PyTorch's epsilon of 1e-5; everything else is exact.
        tolerance = 1e-4 if "scale_gradient" in output else 1e-13
        assert plain(found[output]) == pytest.approx(plain(value), rel=tolerance, abs=1e-30), output


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["ar", "en"])
def test_every_experiment_answers_its_defaults_with_both_ways_and_a_drawing(name, language):
    answer = ask(name, language, view=True)
    assert answer["ok"]
    assert {output.split("_")[0] for output in answer["outputs"]} >= {"right", "wrong"}
    assert answer["steps"]
    drawing = answer["view"]["pictures"]["drawing"]
    assert {one["role"] for one in drawing["series"]} >= {"right", "wrong"}
    assert all(math.isfinite(number) for one in drawing["series"] for point in one["points"] for number in point)
    assert set(answer["view"]["inputs"]) == {"name", *(field.name for field in EXPERIMENT.variants[name].fields[1:])}


@pytest.mark.parametrize("name", NAMES)
def test_the_form_s_starting_values_are_the_defaults(name):
    started = {field.name: field.example for field in EXPERIMENT.variants[name].fields[1:]}
    assert outputs(name, **started) == outputs(name)


def test_a_name_means_one_kind_of_field_and_output_everywhere():
    for declared in ("fields", "outputs"):
        kinds = {(one.name, one.kind) for variant in EXPERIMENT.variants.values() for one in getattr(variant, declared)}
        names = [name for name, _ in kinds]
        assert sorted(set(names)) == sorted(names)


REFUSED = [
    ({}, "name", "missing"),
    ({"name": "clippings"}, "name", "unknown_value"),
    ({"name": 3}, "name", "wrong_type"),
    ({"name": "clipping", "momentum": 1}, "momentum", "unknown_field"),
    ({"name": "list", "limit": 1}, "limit", "unknown_field"),
    ({"name": "clipping", "limit": 0}, "limit", "not_positive"),
    ({"name": "clipping", "limit": "1e9"}, "limit", "too_large"),
    ({"name": "clipping", "gradients": "1 2; 3"}, "gradients", "wrong_type"),
    ({"name": "clipping", "gradients": "1 -"}, "gradients", "missing"),
    ({"name": "clipping", "gradients": [[1] * 65]}, "gradients", "too_large"),
    ({"name": "clipping", "gradients": "1 2; 3 1e9"}, "gradients", "too_large"),
    ({"name": "clipping", "gradients": "1 -1e9"}, "gradients", "not_positive"),
    ({"name": "loss_scaling", "accumulation_steps": 65}, "accumulation_steps", "too_large"),
    ({"name": "token_normalisation", "tokens": "0 0"}, "tokens", "not_positive"),
    ({"name": "token_normalisation", "losses": "1"}, "losses", "wrong_type"),
    ({"name": "token_normalisation", "losses": "1 -"}, "losses", "missing"),
    ({"name": "token_normalisation", "gradients": "1"}, "gradients", "wrong_type"),
    ({"name": "rank_averaging", "tokens": "1; 2; 3"}, "gradients", "wrong_type"),
    ({"name": "batch_norm", "samples": "1; 2"}, "samples", "wrong_type"),
    ({"name": "batch_norm", "momentum": 1}, "momentum", "too_large"),
    ({"name": "loss_scaler", "changed_after": 3}, "changed_after", "too_large"),
    ({"name": "schedule_units", "warmup_updates": 100}, "warmup_updates", "too_large"),
    ({"name": "contrastive", "micro_batch": 8}, "accumulation_steps", "too_large"),
    ({"name": "additive_losses", "overlaps": "1 2"}, "overlaps", "wrong_type"),
    ({"name": "additive_losses", "overlaps": "3 2 4"}, "overlaps", "wrong_type"),
    ({"name": "additive_losses", "overlaps": "0 0 0"}, "overlaps", "wrong_type"),
    ({"name": "additive_losses", "routed": "0 0; 1 1"}, "routed", "not_positive"),
    ({"name": "weight_decay", "micro_batches": 4}, "accumulation_steps", "too_large"),
    ({"name": "reduction_cost", "seconds_accumulated": 3}, "seconds_accumulated", "too_large"),
    ({"name": "reduction_cost", "seconds_accumulated": "0.5"}, "seconds_accumulated", "not_positive"),
    ({"name": "summed_losses", "per_graph": "5 PiB"}, "per_graph", "too_large"),
]


@pytest.mark.parametrize("inputs, field, code", REFUSED, ids=range(len(REFUSED)))
@pytest.mark.parametrize("language", ["ar", "en"])
def test_refusals_stand_at_their_field_with_a_hint(inputs, field, code, language):
    answer = api.answer({"calculator": "experiment", "inputs": inputs, "language": language})
    assert [(error["field"], error["code"]) for error in answer["errors"]] == [(field, code)]
    assert answer["errors"][0]["message"]
    assert answer["errors"][0]["hint"]


def test_a_misspelt_name_gets_the_nearest_one_and_a_range_is_told():
    answer = api.answer({"calculator": "experiment", "inputs": {"name": "cliping"}})
    assert "clipping" in answer["errors"][0]["hint"]
    answer = ask("contrastive", temperature=100)
    assert answer["errors"][0]["hint"] == "Enter a value from 0.01 to 10."


NOTED = [
    ("loss_scaling", {"accumulation_steps": 1}, ["one_micro_batch"]),
    ("batch_norm", {"samples": "1 2 3"}, ["one_micro_batch"]),
    ("token_normalisation", {"tokens": "3 3"}, ["equal_lengths"]),
    ("rank_averaging", {"tokens": "3", "gradients": "1 2"}, ["one_rank"]),
    ("last_window", {"micro_batches": 8}, ["full_windows"]),
    ("last_window", {"micro_batches": 3}, ["no_update"]),
    ("clipping", {"limit": 5}, ["nothing_clipped"]),
    ("gradient_precision", {"accumulation_steps": 8}, ["still_moving"]),
    ("gradient_precision", {"accumulation_steps": 8, "spread": 1}, []),
    # 6 * 10000 rounds to 60000 in fp16, whose largest number is 65504.
    ("gradient_precision", {"accumulation_steps": 6, "gradient": 10000, "buffer_dtype": "fp16"}, ["still_moving"]),
    ("gradient_precision", {"accumulation_steps": 7, "gradient": 10000, "buffer_dtype": "fp16"}, ["buffer_overflows"]),
    ("loss_scaling", {"accumulation_steps": 64, "micro_batch": 64, "learning_rate": 1}, ["steps_run_away"]),
    ("contrastive", {"micro_batch": 1}, ["one_pair"]),
    ("contrastive", {"micro_batch": 1, "accumulation_steps": 1}, []),
    ("small_batch", {"new_effective_batch": 512}, ["same_batch"]),
    ("small_batch", {"new_effective_batch": 1024}, []),
]


@pytest.mark.parametrize("name, inputs, codes", NOTED)
def test_notes(name, inputs, codes):
    assert [note["code"] for note in ask(name, **inputs)["notes"]] == codes


def test_no_warmup_is_said_with_a_nought():
    assert outputs("schedule_units", warmup_updates=0) == outputs("schedule_units")
    (error,) = ask("schedule_units", warmup_updates="-1")["errors"]
    assert (error["code"], error["hint"]) == ("not_positive", "Enter a whole number from 0 to 1,000,000,000,000,000,000.")


@pytest.mark.parametrize("name, field", [("small_batch", "beta2"), ("moving_average", "decay")])
def test_an_end_of_a_range_that_is_told_is_one_that_is_taken(name, field):
    hint = ask(name, **{field: 1})["errors"][0]["hint"]
    for end in hint.removeprefix("Enter a value from ").removesuffix(".").split(" to "):
        assert ask(name, **{field: end})["ok"]


def test_outputs_that_would_divide_by_zero_are_left_out():
    for name in ("token_normalisation", "rank_averaging"):
        assert "gradient_error" not in outputs(name, gradients="1 0; -1 0", tokens="3 3" if name[0] == "t" else "3; 3")
    assert "gradient_cosine" not in outputs("clipping", gradients="0 0")
    assert "gradient_error" not in outputs("contrastive", micro_batch=1, accumulation_steps=1)


@pytest.mark.parametrize(
    "policy, updates, lost, mixed",
    [
        ("actual_length", [1, 1, 1] * 2, 0, 0),
        ("divided_by_a", [1, 1, 0.5] * 2, 0, 0),
        ("dropped", [1, 1] * 2, 4, 0),
        ("carried", [1] * 5, 0, 1),
        # Windows of 1, 4 and 4 micro-batches; the one left over joins the first of the next epoch.
        ("off_by_one", [0.25, 1, 1, 0.5, 1, 1], 1, 1),
    ],
)
def test_policies_of_the_last_window(policy, updates, lost, mixed):
    run = last_window.run(10, 4, 2, policy)
    assert (run.updates, run.lost, run.mixed) == (updates, lost, mixed)


@pytest.mark.parametrize(
    "value, dtype, expected",
    [
        (257.0, "bf16", 256.0),
        (259.0, "bf16", 260.0),
        (2**-24, "fp16", 2**-24),
        (2**-26, "fp16", 0.0),
        (65519.0, "fp16", 65504.0),
        (65520.0, "fp16", math.inf),
        (-70000.0, "fp16", -math.inf),
        (0.1, "fp32", 0.10000000149011612),
        (math.inf, "bf16", math.inf),
    ],
)
def test_rounding_to_few_bits(value, dtype, expected):
    assert gradient_precision.rounded(value, dtype) == expected


def test_rounding_agrees_with_the_interpreter_s_own_formats():
    for code, dtype in (("e", "fp16"), ("f", "fp32")):
        for index in range(2000):
            value = math.ldexp(gradient_precision.noise(index), index % 40 - 25)
            assert gradient_precision.rounded(value, dtype) == struct.unpack(code, struct.pack(code, value))[0]


def test_a_schedule_is_right_when_it_was_built_for_the_steps_it_makes():
    for update in range(101):
        right = schedule_units.rate_at_update(update, 10, 100, 1)
        assert schedule_units.rate_at_update(update, 10, 100, 6, built_for=6) == right


def test_a_cache_gives_the_gradient_of_the_whole_batch():
    whole, right = contrastive.whole_batch(8, Fraction(1, 10))
    cached, gradient = contrastive.accumulated(2, 4, Fraction(1, 10), cached=True)
    assert abs(whole - cached) < 1e-30
    assert vectors.relative_error(gradient, right) < 1e-30


def test_clipping_once_keeps_the_direction():
    rows = [[Fraction(3), Fraction(1)], [Fraction(-1), Fraction(5)]]
    assert vectors.cosine(clipping.once(rows, Fraction(1)), vectors.mean(rows)) == pytest.approx(1, rel=1e-30)


def test_variance_parts_add_up():
    """0.25 within and 5 between make 5.25, the population variance of 0..7; times 8/7 it is 6."""
    rows = [[Fraction(2 * i), Fraction(2 * i + 1)] for i in range(4)]
    within = batch_norm.mean([batch_norm.variance(row, unbiased=False) for row in rows])
    between = batch_norm.variance([batch_norm.mean(row) for row in rows], unbiased=False)
    assert (within, between, (within + between) * Fraction(8, 7)) == (Fraction(1, 4), 5, 6)


@pytest.mark.parametrize("steps, factor", [(1, 1), (8, 8)])
def test_sgd_takes_the_missing_division_in_full_and_adam_hides_it(steps, factor):
    g = Fraction(102)
    right, wrong = (loss_scaling.first_update(2, steps, Fraction(1, 50), way) for way in ("right", "never"))
    assert wrong == factor * right
    assert abs(loss_scaling.adam_factor(factor * g, g) - 1) < Fraction(1, 10**9)


def test_a_drawing_is_numbers_and_words():
    data = worded(
        Drawing("arrows", [Series("clipped_once", "right", [(Fraction(1, 3), 2)])], {"right": 1, "alone": 2}, 1),
        "clipping",
        "en",
    )
    assert json.loads(json.dumps(data))["series"][0]["points"] == [[1 / 3, 2.0]]
    assert data["limit"] == 1.0


def test_a_drawing_takes_ratios_too_long_to_print():
    answer = ask("weight_decay", view=True, learning_rate=0.8999978, micro_batches=104_008)
    assert answer["ok"]
    assert answer["view"]["pictures"]["drawing"]["axes"]


def test_what_grows_beyond_a_double_is_left_out_and_said():
    overflown = outputs("gradient_precision", accumulation_steps=100, gradient=10000, buffer_dtype="fp16")
    assert overflown["right_mean"] == overflown["exact_mean"] == 10000
    assert not {"wrong_mean", "wrong_sum", "gradient_error"} & set(overflown)
    # Gradients that are infinite themselves, of either sign.
    assert "wrong_mean" not in outputs(
        "gradient_precision", accumulation_steps=4096, gradient=10000, spread=10, buffer_dtype="fp16"
    )
    away = outputs("loss_scaling", accumulation_steps=64, micro_batch=64, learning_rate=1)
    assert "wrong_stepped_each_time" not in away
    assert away["wrong_never_divided"] == 64 * away["right_update"]


def test_an_error_has_no_sign():
    for steps in range(1, 65):
        found = outputs("gradient_precision", accumulation_steps=steps, spread=10, gradient="0.7")
        assert found.get("gradient_error", 0) >= 0
