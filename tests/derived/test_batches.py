"""Batches, updates and averages once more, by doing what they describe: samples are dealt out and counted one by one."""

import itertools
import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradaccum import api, units

small = st.integers(1, 7)
SPLIT = ("effective_batch", "micro_batch", "accumulation_steps", "replicas")


def ask(calculator, **inputs):
    return json.loads(api.run(json.dumps({"calculator": calculator, "inputs": inputs})))


def answer(calculator, **inputs):
    found = ask(calculator, **inputs)
    assert found["ok"], found
    return found["outputs"]


@given(small, small, small, small)
def test_an_effective_batch_is_every_sample_seen_before_the_update(b, a, g, per_sample):
    seen = [sample for _ in range(g) for _ in range(a) for sample in range(b)]
    held = [sum(per_sample for _ in range(b)) for _ in range(a)]
    found = answer("accumulation", micro_batch=b, accumulation_steps=a, replicas=g, activation_per_sample=per_sample)
    assert found["effective_batch"] == len(seen)
    # One micro-batch's activations are freed before the next one's are made.
    assert found["activation_memory"] == max(held)
    assert found["whole_batch_activation_memory"] == sum(held)


@given(st.integers(1, 96), st.lists(st.integers(1, 4), min_size=4, max_size=4))
def test_replicas_are_the_devices_that_are_left_when_models_are_laid_out(world, degrees):
    names = ("tensor_parallel", "pipeline_parallel", "context_parallel", "sequence_parallel")
    devices, models = set(range(world)), 0
    while len(devices) >= math.prod(degrees):
        devices -= set(itertools.islice(sorted(devices), math.prod(degrees)))
        models += 1
    found = ask("accumulation", micro_batch=1, accumulation_steps=1, world_size=world, **dict(zip(names, degrees, strict=True)))
    if devices:
        assert [(error["field"], error["code"]) for error in found["errors"]] == [("world_size", "not_divisible")]
    else:
        assert found["outputs"]["replicas"] == models


@settings(max_examples=200)
@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 9), st.sampled_from(SPLIT[1:]))
def test_a_split_is_found_by_trying_every_count(wanted, first, second, unknown):
    given_ = dict(zip([name for name in SPLIT[1:] if name != unknown], (first, second), strict=True))
    products = {count: first * second * count for count in range(1, 70)}
    found = ask("batch_split", effective_batch=wanted, **given_)
    exact = [count for count, product in products.items() if product == wanted]
    if exact:
        assert [found["outputs"][unknown]] == exact
        return
    error = found["errors"][0]
    assert error["code"] == "not_divisible"
    below = [product for product in products.values() if product < wanted][-1:]
    above = [product for product in products.values() if product > wanted][:1]
    nearest = sorted(below + above, key=lambda product: (abs(product - wanted), product))
    assert [entry["effective_batch"] for entry in error["nearest"]] == nearest


def run_of(samples, b, a, g, epochs, drop_last, last_window):
    """A loader, a window and a trainer, one micro-batch after another."""
    updates, window, first_epoch = 0, 0, 0
    micro_batches = 0
    for epoch in range(epochs):
        left = samples
        while left >= (b * g if drop_last else 1):
            left -= min(left, b * g)
            micro_batches += 1
            window += 1
            if window == a:
                updates, window = updates + 1, 0
        rest = window
        if last_window != "carry":
            updates += 1 if window and last_window == "step" else 0
            window = 0
        if epoch == 0:
            first_epoch = updates
    return micro_batches // epochs, first_epoch, updates, rest


@settings(max_examples=300)
@given(
    st.integers(1, 60),
    small,
    small,
    st.integers(1, 4),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from(["step", "drop", "carry"]),
)
def test_updates_are_those_of_a_loop(samples, b, a, g, epochs, drop_last, last_window):
    inputs = {"dataset_size": samples, "micro_batch": b, "accumulation_steps": a, "replicas": g, "epochs": epochs}
    found = answer("updates", **inputs, drop_last=drop_last, last_window=last_window)
    names = ("micro_batches_per_epoch", "updates_per_epoch", "total_updates", "last_window_micro_batches")
    expected = run_of(samples, b, a, g, epochs, drop_last, last_window)
    assert tuple(found[name] for name in names) == expected
    # A trainer that divides the loss by a gives a window of r micro-batches the sum of r parts of 1 / a.
    rest = expected[-1]
    scale = math.fsum([1 / a] * rest) if rest else 1
    assert math.isclose(found["last_window_gradient_scale"], scale)


@given(st.integers(0, 1000), st.integers(1, 3000))
def test_a_warmup_is_the_first_count_that_reaches_its_part_of_the_run(thousandths, samples):
    found = answer(
        "updates", dataset_size=samples, micro_batch=1, accumulation_steps=1, warmup_ratio=f"{thousandths / 1000:.3f}"
    )
    first = next(count for count in itertools.count() if 1000 * count >= thousandths * samples)
    assert found["warmup_updates"] == first


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5), st.integers(1, 50), st.integers(0, 50))
def test_a_run_takes_the_time_of_its_parts(samples, a, epochs, micro, update):
    costs = {"seconds_per_micro_batch": f"{micro / 10}", "seconds_per_update": f"{update / 10}", "hourly_price": 36}
    inputs = {"dataset_size": samples, "micro_batch": 1, "accumulation_steps": a, "epochs": epochs}
    found = answer("updates", **inputs, **costs)
    clock = Fraction(0)
    for _ in range(epochs):
        for place in range(1, samples + 1):
            clock += Fraction(micro, 10)
            if place % a == 0 or place == samples:
                clock += Fraction(update, 10)
    assert math.isclose(found["total_seconds"], clock)
    assert math.isclose(found["total_cost"], clock / 100)


@given(st.integers(1, 4096), st.integers(1, 4096), st.floats(1e-6, 1), st.floats(0.5, 0.9999))
def test_learning_rates_by_what_the_rules_keep(old, new, rate, beta):
    recipe = {"learning_rate": rate, "effective_batch": old, "new_effective_batch": new}
    linear, root, none = (answer("learning_rate", **recipe, rule=rule) for rule in ("linear", "square-root", "none"))
    # Linear keeps the rate per sample, the square root the variance of a step: rate^2 per sample; none the rate itself.
    assert math.isclose(linear["new_learning_rate"] / new, rate / old)
    assert math.isclose(root["new_learning_rate"] ** 2 / new, rate**2 / old)
    assert none["new_learning_rate"] == rate
    found = answer("learning_rate", **recipe, rule="none", beta2=beta, total_updates=1000, warmup_updates=100)
    samples_to_half = old * math.log(0.5) / math.log(beta)
    if 1e-9 < found["new_beta2"] < 1 - 1e-9:
        assert math.isclose(new * math.log(0.5) / math.log(found["new_beta2"]), samples_to_half, rel_tol=1e-6)
    for name, updates in (("new_total_updates", 1000), ("new_warmup_updates", 100)):
        assert (found[name] - 1) * new < updates * old <= found[name] * new


def widths(rows, columns):
    return st.lists(st.lists(st.integers(0, 9), min_size=columns, max_size=columns), min_size=rows, max_size=rows)


def has_target(tokens):
    return any(n for row in tokens for n in row)


@settings(max_examples=200)
@given(
    st.tuples(st.integers(1, 3), st.integers(1, 4)).flatmap(lambda shape: widths(*shape)).filter(has_target), st.integers(1, 5)
)
def test_weights_of_tokens_by_writing_every_token_down(tokens, spread):
    micro_batches = [n for row in tokens for n in row]
    losses = [[Fraction(place * spread % 7 + 1) for place in range(n)] for n in micro_batches]
    every = [loss for part in losses for loss in part]
    right = sum(every) / len(every)
    means = [sum(part) / len(part) if part else Fraction(0) for part in losses]
    wrong = sum(means) / len(means)
    table = iter(means)
    given_ = [[str(float(mean)) if n else None for n, mean in zip(row, table, strict=False)] for row in tokens]
    found = answer("loss_weights", tokens=tokens, losses=given_)
    assert math.isclose(found["correct_loss"], right, rel_tol=1e-12)
    assert math.isclose(found["mean_of_means_loss"], wrong, rel_tol=1e-12)
    # One token's loss raised by 1 raises the mean of means by w / N.
    weights = [w for row in found["token_weights"] for w in row]
    for n, weight in zip(micro_batches, weights, strict=True):
        raised = Fraction(1, n * len(micro_batches)) if n else None
        assert weight is None if raised is None else math.isclose(weight, raised * len(every))


@given(
    st.integers(1, 10**18), st.sampled_from(["", ",", "٬", "_"]), st.sampled_from(["0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹"])
)
def test_counts_are_read_as_they_are_spelt(number, separator, digits):
    groups = []
    rest = number
    while rest:
        rest, group = divmod(rest, 1000)
        groups.insert(0, f"{group:03}" if rest else str(group))
    text = separator.join(groups).translate({ord(plain): other for plain, other in zip("0123456789", digits, strict=True)})
    assert units.read_count(text, "n") == number


@pytest.mark.parametrize(
    "unit, power, base",
    [
        (f"{p}{i}B", e, 1024 if i else 1000)
        for i in ("i", "")
        for p, e in zip("KMGTP" if i else "kMGTP", range(1, 6), strict=True)
    ],
)
@given(number=st.decimals(min_value="0.001", max_value="900", places=3))
def test_sizes_are_powers_of_their_base(unit, power, base, number):
    exact = Fraction(number)
    for _ in range(power):
        exact *= base
    if exact <= 10**18:
        size = units.read_size(f"{number} {unit}", "n")
        assert size - 1 < exact <= size
        assert exact < 1 or units.read_size(f"{number} {unit}", "n", rounding="down") == exact // 1
