"""The experiments once more, by living through them: loops with a buffer, tokens and pixels one by one, slopes by differences."""

import itertools
import json
import math
import operator
import statistics
import struct
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gradaccum import api
from gradaccum.experiments import contrastive, gradient_precision

few = settings(max_examples=25)
steps = st.integers(1, 6)
tenths = st.integers(-60, 60).map(lambda number: Fraction(number, 10))


def answer(name, **inputs):
    given_ = {key: written(value) for key, value in inputs.items()}
    found = json.loads(api.run(json.dumps({"calculator": "experiment", "inputs": {"name": name, **given_}})))
    assert found["ok"], found
    return found["outputs"]


def written(value):
    """As a reader would type it: a table row by row, a ratio as a decimal."""
    if isinstance(value, list):
        return [written(one) for one in value]
    return str(float(value)) if isinstance(value, Fraction) else value


def rows(cell, most_wide=3, least_wide=1):
    """A table whose lines have one length."""
    return st.integers(least_wide, most_wide).flatmap(
        lambda n: st.lists(st.lists(cell, min_size=n, max_size=n), min_size=1, max_size=4)
    )


def close(found, expected, rel=1e-9, tiny=1e-12):
    if isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(close(*pair, rel, tiny) for pair in zip(found, expected, strict=True))
    return math.isclose(found, expected, rel_tol=rel, abs_tol=tiny)


def summed(vectors):
    return [sum(column) for column in zip(*vectors, strict=True)]


def times(factor, vector):
    return [factor * x for x in vector]


def slope(function, at):
    """The derivative of a square function; of such a one a difference is exact."""
    return (function(at + 1) - function(at - 1)) / 2


@few
@given(steps, steps, st.integers(1, 300).map(lambda n: Fraction(n, 1000)))
def test_loss_scaling_is_a_loop_over_one_weight(a, b, rate):
    window = [range(1 + b * i, 1 + b * (i + 1)) for i in range(a)]

    def trained(batches, divided, *, zero=False, step=False):
        weight, buffer = Fraction(0), Fraction(0)
        for samples in batches:

            def loss(w, samples=samples):
                return sum((w * x - 2 * x) ** 2 for x in samples) / len(samples) / divided

            buffer = (0 if zero else buffer) + slope(loss, weight)
            if step:
                weight, buffer = weight - rate * buffer, Fraction(0)
        return weight - rate * buffer

    found = answer("loss_scaling", accumulation_steps=a, micro_batch=b, learning_rate=rate)
    assert close(found["full_batch_update"], trained([range(1, b * a + 1)], 1))
    assert close(found["right_update"], trained(window, a))
    assert close(found["wrong_never_divided"], trained(window, 1))
    assert close(found["wrong_divided_twice"], trained(window, a * a))
    assert close(found["wrong_zeroed_each_time"], trained(window, a, zero=True))
    assert close(found["wrong_stepped_each_time"], trained(window, 1, step=True))

    def first_step_of_adam(gradient, beta1=0.9, beta2=0.999):
        first, second = (1 - beta1) * gradient, (1 - beta2) * gradient**2
        return first / (1 - beta1) / (math.sqrt(second / (1 - beta2)) + 1e-8)

    gradient = float(trained([range(1, b * a + 1)], 1) / rate)
    assert close(found["adam_factor"], first_step_of_adam(a * gradient) / first_step_of_adam(gradient))


targets = st.lists(st.tuples(st.integers(0, 5), st.tuples(tenths, tenths), tenths), min_size=1, max_size=4)


def tokens_of(parts):
    """Every target's gradient and loss, spread around the mean of its micro-batch."""
    for n, gradient, loss in parts:
        for place in range(n):
            off = Fraction(2 * place - (n - 1), 7)
            yield [x + off for x in gradient], loss - off


@few
@given(targets.filter(lambda parts: any(n for n, _, _ in parts)))
def test_a_mean_over_targets_asks_every_target(parts):
    every = list(tokens_of(parts))
    gradient, loss = times(Fraction(1, len(every)), summed(g for g, _ in every)), sum(one for _, one in every) / len(every)
    alone = [list(tokens_of([part])) for part in parts]
    means = [times(Fraction(1, len(part)), summed(g for g, _ in part)) if part else [0, 0] for part in alone]
    losses = [sum(one for _, one in part) / len(part) if part else 0 for part in alone]
    counts, gradients = [n for n, _, _ in parts], [list(g) for _, g, _ in parts]
    typed = {"tokens": [counts], "gradients": gradients}
    found = answer("token_normalisation", **typed, losses=[[one for _, _, one in parts]])
    assert close(found["right_gradient"], gradient)
    assert close(found["right_loss"], loss)
    wrong = times(Fraction(1, len(parts)), summed(means))
    assert close(found["wrong_gradient"], wrong)
    assert close(found["wrong_loss"], sum(losses) / len(parts))
    if any(gradient):
        off = math.dist(wrong, gradient) / math.hypot(*gradient)
        assert close(found["gradient_error"], off)
    if any(gradient) and any(wrong):
        angle = math.atan2(*map(float, gradient)) - math.atan2(*map(float, wrong))
        assert close(found["gradient_cosine"], math.cos(angle), tiny=1e-9)


@few
@given(targets.filter(lambda parts: any(n for n, _, _ in parts)))
def test_ranks_hand_their_gradients_to_a_mean(parts):
    every = sum(n for n, _, _ in parts)

    def reduced(scale):
        """What stands on every rank after the reduction, which divides by the ranks."""
        backward = [
            summed(times(scale(n), g) for g, _ in tokens_of([(n, gradient, loss)])) if n else [0, 0]
            for n, gradient, loss in parts
        ]
        return times(Fraction(1, len(parts)), summed(backward))

    typed = {"tokens": [[n] for n, _, _ in parts], "gradients": [list(g) for _, g, _ in parts]}
    found = answer("rank_averaging", **typed)
    right, local = reduced(lambda _: Fraction(len(parts), every)), reduced(lambda n: Fraction(1, n))
    assert close(found["right_gradient"], right)
    assert close(found["wrong_local_means"], local)
    assert close(found["wrong_without_replicas"], reduced(lambda _: Fraction(1, every)))
    if any(right):
        assert close(found["gradient_error"], math.dist(local, right) / math.hypot(*right))
        assert close(math.hypot(*found["wrong_without_replicas"]), found["wrong_factor"] * math.hypot(*right))
    # A target whose loss is doubled pulls so much more on the mean than it should.
    for (weight,), (n, _, _) in zip(found["token_weights"], parts, strict=True):
        assert weight is None if not n else close(weight, Fraction(1, n) / len(parts) * every)


@few
@given(rows(tenths, most_wide=4, least_wide=2), st.integers(1, 99).map(lambda n: Fraction(n, 100)))
def test_batch_norm_goes_through_its_batches(batches, momentum):
    a, whole = len(batches), [x for row in batches for x in row]

    def running(batches, momentum):
        mean, variance = 0.0, 1.0
        for batch in batches:
            mean += momentum * (float(statistics.fmean(batch)) - mean)
            variance += momentum * (float(statistics.variance(batch)) - variance)
        return mean, variance

    def gradient(batches, statistics_of):
        def loss(scale):
            total = 0.0
            for batch in batches:
                mean, deviation = statistics_of(batch)
                total += statistics.fmean((scale * (float(x) - mean) / deviation - float(x)) ** 2 / 2 for x in batch)
            return total / len(batches)

        return slope(loss, 1)

    def its_own(batch):
        return statistics.fmean(map(float, batch)), math.sqrt(statistics.pvariance(map(float, batch)) + 1e-5)

    found = answer("batch_norm", samples=batches, momentum=momentum)
    assert close((found["right_running_mean"], found["right_running_variance"]), running([whole], float(momentum)))
    assert close((found["wrong_running_mean"], found["wrong_running_variance"]), running(batches, float(momentum)))
    assert close((1 - found["corrected_momentum"]) ** a, 1 - momentum)
    corrected = found["corrected_running_mean"], found["corrected_running_variance"]
    assert close(corrected, running(batches, found["corrected_momentum"]), tiny=1e-9)
    # Deviations far below the constant under the root amplify the rounding of doubles.
    assert close(found["right_scale_gradient"], gradient([whole], its_own), rel=1e-6, tiny=1e-6)
    assert close(found["wrong_scale_gradient"], gradient(batches, its_own), rel=1e-6, tiny=1e-6)
    fixed = gradient(batches, lambda _: (0, 1)) - gradient([whole], lambda _: (0, 1))
    assert close(found["frozen_gradient_gap"], fixed, tiny=1e-9)


POLICIES = {
    "actual_length": {"flush": True, "by_length": True},
    "divided_by_a": {"flush": True},
    "dropped": {"drop": True},
    "carried": {},
    "off_by_one": {"early": True},
}


def windows(m, a, epochs, *, flush=False, by_length=False, drop=False, early=False):
    """The micro-batches of each update, by epoch and place, what was left out, and how strong each update is."""
    done, buffer, lost = [], [], 0
    for epoch in range(epochs):
        for place in range(m):
            buffer.append((epoch, place))
            if place % a == 0 if early else len(buffer) == a:
                done, buffer = [*done, buffer], []
        if flush and buffer:
            done, buffer = [*done, buffer], []
        if drop:
            lost, buffer = lost + len(buffer), []
    return done, lost + len(buffer), [Fraction(len(one), len(one) if by_length else a) for one in done]


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(1, 12), st.integers(1, 5))
def test_every_policy_of_the_last_window_is_a_loop(m, a, epochs):
    found = answer("last_window", micro_batches=m, accumulation_steps=a, epochs=epochs)
    assert [row["policy"] for row in found["policies"]] == list(POLICIES)
    for row in found["policies"]:
        done, lost, strong = windows(m, a, epochs, **POLICIES[row["policy"]])
        mixed = sum(len({epoch for epoch, _ in window}) > 1 for window in done)
        assert (row["updates"], row["left_out"], row["mixed_updates"]) == (len(done), lost, mixed), row
        assert close(row["weakest"], min(strong, default=0))
    done, _, strong = windows(m, a, 1, **POLICIES["divided_by_a"])
    assert found["right_last_update"] == 1
    assert close(found["wrong_last_update"], strong[-1])
    assert found["right_updates"] == len(done) * epochs
    carried, _, _ = windows(m, a, epochs)
    assert (found["carried_updates"], found["dropped_micro_batches"]) == (len(carried), m % a * epochs)


def clipped(vector, limit):
    length = math.hypot(*vector)
    return [x * limit / length for x in vector] if length > limit else list(vector)


@few
@given(
    rows(tenths),
    st.integers(1, 50).map(lambda n: Fraction(n, 10)),
    st.booleans(),
    st.sampled_from([Fraction(1), Fraction(1024), Fraction(65536)]),
)
def test_clipping_shortens_what_is_longer(gradients, limit, divided, scale):
    a, most = len(gradients), float(limit)
    every = [[float(x) for x in row] for row in gradients]
    mean = [sum(column) / a for column in zip(*every, strict=True)]
    buffer = [0.0] * len(mean)
    for row in every:
        buffer = clipped([held + x / (a if divided else 1) for held, x in zip(buffer, row, strict=True)], most)
    alone = times(1 / a, summed(clipped(row, most) for row in every))
    found = answer("clipping", gradients=gradients, limit=limit, divided=divided, loss_scale=scale)
    right = clipped(mean, most)
    assert close(found["right_gradient"], right)
    assert close(found["wrong_buffer_clipped"], buffer)
    assert close(found["wrong_each_clipped"], alone)
    assert close((found["mean_norm"], found["right_norm"]), (math.hypot(*mean), math.hypot(*right)))
    scaled = clipped(times(float(scale), mean), most)
    assert close(found["wrong_norm_before_unscaling"], math.hypot(*scaled) / float(scale))
    if "gradient_cosine" in found:
        product = math.fsum(map(operator.mul, buffer, right))
        assert close(found["gradient_cosine"] * math.hypot(*buffer) * math.hypot(*right), product, tiny=1e-9)


def in_format(value, dtype):
    """The nearest number of a format: with the interpreter's own, or of eight bits by counting in their last place."""
    if dtype != "bf16":
        try:
            return struct.unpack("e", struct.pack("e", value))[0] if dtype == "fp16" else to_single(value)
        except OverflowError:
            return math.copysign(math.inf, value)
    if not value:
        return value
    place = Fraction(2) ** (math.frexp(value)[1] - 8)
    return float(round(Fraction(value) / place) * place)


def to_single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def buffer_of(gradients, dtype):
    held = 0.0
    for gradient in gradients:
        held = in_format(held + in_format(gradient, dtype), dtype)
    return held


@few
@given(
    st.integers(1, 600),
    st.sampled_from(["bf16", "fp16"]),
    st.integers(1, 400).map(lambda n: Fraction(n, 100)),
    st.sampled_from([Fraction(0), Fraction(1), Fraction(5, 2)]),
)
def test_a_buffer_of_few_bits_is_rounded_after_every_addition(a, dtype, gradient, spread):
    each = [float(gradient) * (1 + float(spread) * gradient_precision.noise(i)) for i in range(a)]
    exact = sum(map(Fraction, each))
    found = answer(
        "gradient_precision", accumulation_steps=a, buffer_dtype=dtype, gradient=str(float(gradient)), spread=str(float(spread))
    )
    assert close(found["exact_mean"], exact / a)
    assert close((found["right_sum"], found["right_mean"]), (buffer_of(each, "fp32"), buffer_of(each, "fp32") / a))
    wrong = buffer_of(each, dtype)
    assert close((found["wrong_sum"], found["wrong_mean"]), (wrong, wrong / a))
    # Gradients that spread may add up to nothing, and of nothing no share is wrong.
    assert ("gradient_error" in found) is bool(exact)
    assert not exact or close(found["gradient_error"], abs(Fraction(wrong) / exact - 1))


@few
@given(st.sampled_from(["bf16", "fp16"]), st.integers(1, 400).map(lambda n: Fraction(n, 100)))
def test_a_buffer_stands_still_when_adding_moves_it_no_more(dtype, gradient):
    found = answer("gradient_precision", buffer_dtype=dtype, gradient=str(float(gradient)))
    held, added, one = 0.0, 0, in_format(float(gradient), dtype)
    while in_format(held + one, dtype) != held:
        held, added = in_format(held + one, dtype), added + 1
    assert found["stuck_at"] == added
    # The first part of a one that is lost beside it stands one place behind the last bit.
    assert found["significant_bits"] == next(p for p in itertools.count(1) if in_format(1 + 2.0**-p, dtype) == 1)


@few
@given(steps, steps, st.sampled_from(["0.5", "2", "0.25"]), tenths.filter(lambda g: g > 0), st.integers(0, 20))
def test_a_scale_that_changes_is_taken_off_all_alike(a, after, factor, gradient, twentieths):
    assume(after <= a)
    scale, buffer = 65536.0, 0.0
    for number in range(a):
        scale *= float(factor) if number == after else 1
        buffer += float(gradient) * scale
    # After the last micro-batch the change comes before the scale is taken off.
    scale *= float(factor) if after == a else 1
    chance = Fraction(twentieths, 20)
    window = {"accumulation_steps": a, "changed_after": after}
    found = answer("loss_scaler", **window, scale_factor=factor, gradient=gradient, overflow_probability=chance)
    assert close((found["right_sum"], found["wrong_sum"]), (a * gradient, buffer / scale))
    assert close(found["wrong_factor"], buffer / scale / float(a * gradient))
    skipped = sum(
        math.prod(chance if over else 1 - chance for over in case)
        for case in itertools.product([False, True], repeat=a)
        if any(case)
    )
    assert close(found["window_skip_probability"], skipped)
    assert found["scale_after_overflow"] == 65536 / 2


@settings(max_examples=40)
@given(st.integers(1, 60), st.integers(0, 59), st.integers(1, 80), steps, steps)
def test_a_schedule_is_as_far_on_as_it_was_stepped(total, warmup, update, a, g):
    assume(warmup < total)

    def rate(built_for, per_update, at):
        """After so many updates of so many steps each: up in a line over the warmup, down to nothing at the end."""
        rise, run, count = warmup * built_for, total * built_for, at * per_update
        if count < rise:
            return Fraction(count, rise)
        return Fraction(run - min(count, run), run - rise)

    found = answer(
        "schedule_units",
        total_updates=total,
        warmup_updates=warmup,
        update=update,
        accumulation_steps=a,
        replicas=g,
    )
    assert close(found["right_rate"], rate(1, 1, update))
    assert close(found["wrong_rate_micro_steps"], rate(1, a, update))
    assert close(found["wrong_rate_per_process"], rate(1, g, update))
    assert close(found["wrong_rate_multiplied"], rate(a, g, update))
    for name, per_update in (("wrong_end_micro_steps", a), ("wrong_end_per_process", g)):
        assert math.ceil(found[name] - 1e-9) == next(at for at in itertools.count(1) if rate(1, per_update, at) == 0)
    assert found["right_warmup_end"] == warmup
    assert close(found["wrong_warmup_end"] * g, warmup * a)


@settings(max_examples=12)
@given(st.integers(1, 4), st.integers(1, 4), st.sampled_from([Fraction(1, 20), Fraction(1, 2), Fraction(2)]))
def test_contrast_is_a_softmax_over_what_went_through_together(b, a, temperature):
    queries, keys = contrastive.points(a * b)
    queries, keys = ([tuple(map(float, point)) for point in points] for points in (queries, keys))

    def loss(matrix, seen):
        """Mean over all queries; each against the keys it sees, in the plane turned and stretched by the matrix."""
        total = 0.0
        for own, (x, y) in enumerate(queries):
            moved = x * matrix[0] + y * matrix[2], x * matrix[1] + y * matrix[3]
            scores = {j: (moved[0] * keys[j][0] + moved[1] * keys[j][1]) / float(temperature) for j in seen(own)}
            most = max(scores.values())
            total += most + math.log(math.fsum(math.exp(s - most) for s in scores.values())) - scores[own]
        return total / len(queries)

    def all_keys(_):
        return range(a * b)

    def of_the_micro_batch(own):
        return range(own // b * b, own // b * b + b)

    def gradient(seen, width=1e-5):
        around = [
            [float(i in {0, 3}) + sign * width * (i == entry) for i in range(4)] for entry in range(4) for sign in (1, -1)
        ]
        ends = [loss(matrix, seen) for matrix in around]
        return [(up - down) / (2 * width) for up, down in zip(ends[::2], ends[1::2], strict=True)]

    found = answer("contrastive", micro_batch=b, accumulation_steps=a, temperature=temperature)
    identity = [1, 0, 0, 1]
    assert close(found["right_loss"], loss(identity, all_keys))
    assert close(found["wrong_loss"], loss(identity, of_the_micro_batch))
    assert (found["right_negatives"], found["wrong_negatives"]) == (len(all_keys(0)) - 1, len(of_the_micro_batch(0)) - 1)
    # Who knows nothing gives every key the same score.
    assert close(found["right_chance_loss"], loss([0] * 4, all_keys))
    assert close(found["wrong_chance_loss"], loss([0] * 4, of_the_micro_batch))
    if "gradient_error" in found:
        right, wrong = gradient(all_keys), gradient(of_the_micro_batch)
        assert close(found["gradient_error"], math.dist(wrong, right) / math.hypot(*right), rel=1e-4, tiny=1e-4)
        assert found["cached_gradient_error"] == 0


pixels = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=8).filter(lambda image: any(map(any, image)))
routes = st.integers(1, 4).flatmap(
    lambda experts: st.lists(
        st.lists(st.integers(0, experts - 1), min_size=1, max_size=6).map(lambda sent: (experts, sent)), min_size=1, max_size=4
    )
)


@few
@given(st.lists(pixels, min_size=1, max_size=4), rows(tenths), routes)
def test_losses_that_do_not_add_up_are_counted_pixel_by_pixel(images, residuals, micro_batches):
    def dice(image):
        return Fraction(2 * sum(p and t for p, t in image), sum(p + t for p, t in image))

    def rmse(errors):
        return math.sqrt(statistics.fmean(float(x) ** 2 for x in errors))

    def balance(sent, experts):
        """Experts times the chance that two tokens, drawn one after the other with putting back, meet in one of them."""
        return experts * Fraction(sum(first == second for first in sent for second in sent), len(sent) ** 2)

    (experts,) = {number for number, _ in micro_batches}
    found = answer(
        "additive_losses",
        overlaps=[[sum(p and t for p, t in i), sum(p for p, _ in i), sum(t for _, t in i)] for i in images],
        residuals=residuals,
        routed=[[sent.count(expert) for expert in range(experts)] for _, sent in micro_batches],
    )
    assert close(found["right_dice"], dice(list(itertools.chain(*images))))
    assert close(found["wrong_dice"], sum(map(dice, images)) / len(images))
    assert close(found["right_rmse"], rmse(list(itertools.chain(*residuals))))
    assert close(found["wrong_rmse"], statistics.fmean(map(rmse, residuals)))
    together = list(itertools.chain(*(sent for _, sent in micro_batches)))
    assert close(found["right_load_balance"], balance(together, experts))
    assert close(found["wrong_load_balance"], sum(balance(sent, experts) for _, sent in micro_batches) / len(micro_batches))


@few
@given(st.integers(1, 900), st.integers(0, 100), st.integers(1, 300), st.integers(1, 40))
def test_decay_is_taken_off_at_every_step(thousandths, hundredths, m, a):
    assume(a <= m)
    rate, decay, weights, taken = thousandths / 1000, hundredths / 100, {"right": 1.0, "wrong": 1.0}, {"right": 0, "wrong": 0}
    for number in range(1, m + 1):
        for way in ("right", "wrong") if number % a == 0 else ("wrong",):
            weights[way] -= rate * decay * weights[way]
            taken[way] += 1
    typed = {"learning_rate": Fraction(thousandths, 1000), "weight_decay": Fraction(hundredths, 100)}
    found = answer("weight_decay", **typed, micro_batches=m, accumulation_steps=a)
    for way in ("right", "wrong"):
        assert close(found[f"{way}_shrinkage"], weights[way], tiny=1e-300)
        assert found[f"{way}_updates"] == taken[way]


@few
@given(st.integers(10, 999), st.integers(1, 30))
def test_an_average_forgets_by_its_steps(thousandths, a):
    decay, average, windows_, steps_ = thousandths / 1000, 1.0, [1.0], 0
    while windows_[-1] > 1e-3:
        for _ in range(a):
            average = decay * average + (1 - decay) * 0
            steps_ += 1
        windows_.append(average)
    found = answer("moving_average", decay=Fraction(thousandths, 1000), accumulation_steps=a)
    assert close(found["right_decay_per_update"], decay)
    assert close(found["wrong_decay_per_update"], windows_[1])
    assert close(found["matching_decay"] ** a, decay)
    # Half-lives of steps, and of windows: both say how much is left after all of them.
    assert close(0.5 ** (steps_ / found["right_half_life"]), average)
    assert close(0.5 ** ((len(windows_) - 1) / found["wrong_half_life"]), average)


@few
@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 10**6), st.integers(1, 10**6))
def test_graphs_live_until_their_backward_pass(b, a, sample, graph):
    def most(*, at_once):
        alive, seen = [], []
        for _ in range(a):
            alive.append(graph + sum(sample for _ in range(b)))
            seen.append(sum(alive))
            alive = alive if at_once else []
        return max(seen)

    found = answer("summed_losses", micro_batch=b, accumulation_steps=a, activation_per_sample=sample, per_graph=graph)
    assert (found["right_memory"], found["wrong_memory"]) == (most(at_once=False), most(at_once=True))
    assert close(found["wrong_factor"], a)


@few
@given(st.integers(1, 500), st.integers(0, 500), st.sampled_from([2, 4, 5, 8, 10, 16, 20, 25, 32, 40]), st.integers(1, 40))
def test_times_are_taken_apart_into_what_they_were_made_of(compute, reduction, a, new):
    def seconds(window):
        """A window's clock, shared out over its micro-batches."""
        clock = Fraction(0)
        for number in range(1, window + 1):
            clock += Fraction(compute, 64)
            clock += Fraction(reduction, 64) if number == window else 0
        return clock / window

    def decimal(ratio):
        """Exact: sixty-fourths, divided by twos and fives."""
        return f"{math.floor(ratio)}.{ratio % 1 * 10**12 // 1:012d}"

    typed = {"seconds_alone": decimal(seconds(1)), "seconds_accumulated": decimal(seconds(a))}
    found = answer("reduction_cost", **typed, accumulation_steps=a, new_accumulation_steps=new)
    assert close(found["compute_seconds"], Fraction(compute, 64))
    assert close(found["reduction_seconds"], Fraction(reduction, 64))
    assert close((found["right_seconds"], found["wrong_seconds"]), (seconds(new), seconds(1)))
    assert close(found["speedup"], seconds(1) / seconds(new))
    # A window without an end shares out its one reduction to nothing.
    assert close(found["largest_speedup"], seconds(1) / Fraction(compute, 64))


@few
@given(st.integers(100, 9999), st.integers(1, 2048), st.integers(1, 2048))
def test_a_second_moment_remembers_samples(ten_thousandths, old, new):
    beta = Fraction(ten_thousandths, 10000)
    found = answer("small_batch", beta2=beta, effective_batch=old, new_effective_batch=new)

    def left(beta2, batch, samples):
        """Of a squared gradient after so many samples, each update forgetting its part."""
        return float(beta2) ** (samples / batch)

    assert close(found["wrong_beta2"], beta)
    assert close(left(beta, old, found["right_half_life_samples"]), 0.5)
    assert close(left(beta, new, found["wrong_half_life_samples"]), 0.5)
    # A beta2 near 1 keeps few digits of what it forgets, one near 0 few of what it keeps.
    if 1e-6 < found["right_beta2"] < 1 - 1e-6:
        assert close(left(found["right_beta2"], new, found["right_half_life_samples"]), 0.5, rel=1e-6)
    updates = Fraction(2**22, new) / Fraction(2**22, old)
    assert close(found["updates_factor"], updates)


@pytest.mark.parametrize("name", ["clipping", "loss_scaling"])
def test_one_micro_batch_is_the_whole_batch(name):
    inputs = {"gradients": "3 4", "divided": False} if name == "clipping" else {"accumulation_steps": 1}
    found = answer(name, **inputs)
    if name == "clipping":
        assert close(found["wrong_buffer_clipped"], found["right_gradient"])
        assert close(found["wrong_each_clipped"], found["right_gradient"])
    else:
        ways = {key: value for key, value in found.items() if key != "adam_factor"}
        assert len({round(value, 12) for value in ways.values()}) == 1
