"""Identities that hold for every input, and a front door that never breaks."""

import json
import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from gradaccum import accumulation, api, loss, schedule, window
from gradaccum.calculators import CALCULATORS, FORMS
from gradaccum.errors import InputError
from gradaccum.families import FAMILIES

counts = st.integers(1, 10**18)
small = st.integers(1, 500)


@given(counts, small, small, small)
def test_a_split_keeps_the_effective_batch_or_names_ones_that_divide(wanted, b, a, g):
    for given_ in ({"micro_batch": b, "replicas": g}, {"micro_batch": b, "accumulation_steps": a}, {"accumulation_steps": a}):
        try:
            found = accumulation.split(effective_batch=wanted, **given_)
        except InputError as error:
            entries = error.details["nearest"]
            distances = [abs(entry["effective_batch"] - wanted) for entry in entries]
            assert distances == sorted(distances)
            assert 0 not in distances
            assert any(entry["effective_batch"] > wanted for entry in entries)
        else:
            assert found["effective_batch"] == wanted
            entries = [found]
        for entry in entries:
            batch, *factors = entry.values()
            assert batch == math.prod(factors)
            assert {name: entry[name] for name in given_} == given_


@given(small, small, small)
def test_solving_for_any_of_the_four_gives_the_same_four(b, a, g):
    whole = accumulation.split(micro_batch=b, accumulation_steps=a, replicas=g)
    for unknown in accumulation.SPLIT:
        assert accumulation.split(**{name: n for name, n in whole.items() if name != unknown}) == whole


@given(counts, small, small, counts)
def test_peak_activation_memory_depends_on_b_and_a_sample_alone(b, steps, replicas, per_sample):
    inputs = {"micro_batch": b, "accumulation_steps": steps, "replicas": replicas, "activation_per_sample": per_sample}
    outputs = api.answer({"calculator": "accumulation", "inputs": inputs})["outputs"]
    assert outputs["activation_memory"] == b * per_sample
    assert outputs["whole_batch_activation_memory"] == steps * outputs["activation_memory"]


@given(st.integers(1, 10**6), small, small, st.integers(1, 64), st.integers(1, 20))
def test_updates_times_window_cover_the_data_set(samples, b, a, g, epochs):
    stepped = schedule.updates(samples, b, a, g, epochs)
    dropped = schedule.updates(samples, b, a, g, epochs, drop_last=True, last_window="drop")
    carried = schedule.updates(samples, b, a, g, epochs, last_window="carry")
    batch = b * a * g
    assert (stepped.updates_per_epoch - 1) * batch < samples <= stepped.updates_per_epoch * batch
    assert dropped.updates_per_epoch * batch <= samples < (dropped.updates_per_epoch + 1) * batch + b * g
    assert carried.total_updates * a + carried.last_window_micro_batches == stepped.micro_batches_per_epoch * epochs
    assert dropped.total_updates <= carried.total_updates <= stepped.total_updates
    for counts_ in (stepped, dropped, carried):
        assert 0 < counts_.last_window_gradient_scale <= 1
        assert (counts_.last_window_gradient_scale == 1) == (counts_.last_window_micro_batches == 0)


tables = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(st.integers(1, 10**6), min_size=width, max_size=width), min_size=1, max_size=6)
)


@given(tables)
def test_weights_average_to_one_over_the_tokens(tokens):
    weights = loss.token_weights(tokens)
    weighted = sum(n * w for row, weight_row in zip(tokens, weights, strict=True) for n, w in zip(row, weight_row, strict=True))
    assert weighted == loss.total_tokens(tokens)


@given(tables, st.integers(-100, 100))
def test_both_averages_agree_where_every_loss_is_the_same(tokens, value):
    losses = [[Fraction(value)] * len(row) for row in tokens]
    assert loss.correct_loss(tokens, losses) == loss.mean_of_means_loss(tokens, losses) == value


@given(counts, counts, st.sampled_from(schedule.RULES))
def test_a_learning_rate_factor_is_undone_by_the_way_back(old, new, rule):
    there, back = (Fraction(schedule.learning_rate_factor(*pair, rule)) for pair in ((old, new), (new, old)))
    assert abs(there * back - 1) < Fraction(1, 10**20)


@given(st.fractions(Fraction(1, 100), Fraction(99, 100)), st.integers(1, 10**6), st.integers(1, 10**6))
def test_beta2_moves_towards_one_as_batches_shrink(beta, old, new):
    rescaled = Fraction(schedule.rescaled_beta(beta, old, new))
    # Sixteen digits: a beta very near 1 or 0 may round onto it, but never past it.
    assert 0 <= rescaled <= 1
    assert rescaled >= beta - Fraction(1, 10**40) if new <= old else rescaled <= beta + Fraction(1, 10**40)


@given(counts, counts)
def test_a_window_holds_at_most_one_micro_batch(steps, memory):
    drawn = window.segments(steps, memory)
    assert max(max(s.activations) for s in drawn) == memory
    assert len(drawn) <= 12


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(["0.5 GB", "٣٢", "10 30"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
requests = st.fixed_dictionaries(
    {
        "calculator": st.sampled_from(list(CALCULATORS)),
        "inputs": st.dictionaries(
            st.sampled_from([field.name for calculator in CALCULATORS.values() for field in calculator.fields]), json_values
        ),
    },
    optional={"language": st.sampled_from(["ar", "en", "fr"]), "view": st.booleans()},
)


def check(response):
    decoded = json.loads(response, parse_constant=lambda name: (_ for _ in ()).throw(AssertionError(name)))
    assert set(decoded) >= ({"outputs", "steps", "notes", "inputs"} if decoded["ok"] else {"errors"})
    for error in decoded.get("errors", []):
        assert error["message"]
    response.encode("utf-8")


@given(st.text())
def test_run_never_raises_on_text(text):
    check(api.run(text))


@given(json_values)
def test_run_never_raises_on_json(value):
    check(api.run(json.dumps(value)))


@settings(max_examples=400)
@given(requests)
def test_run_never_raises_on_requests(request):
    check(api.run(json.dumps(request)))


good = {
    "count": st.integers(1, 10**18) | st.integers(1, 1000).map(str),
    "size": st.integers(1, 10**18) | st.sampled_from(["0.5 GB", "٢٤ GiB", "1 B"]),
    "number": st.fractions(Fraction(1, 1000), Fraction(999, 1000)).map(float) | st.just("3e-4"),
    "flag": st.booleans(),
    "counts": st.lists(st.lists(st.integers(0, 10**18), min_size=2, max_size=2), min_size=1, max_size=3),
    "numbers": st.lists(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=2), min_size=1, max_size=3),
    "names": st.sampled_from(["all-linear", "attention", "q_proj v_proj", "none"])
    | st.lists(st.text(min_size=1), min_size=1, max_size=2),
}

# Every key that is read, with values near the right ones and far from them.
CONFIG_KEYS = [
    "hidden_size",
    "n_embd",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "n_inner",
    "vocab_size",
    "tie_word_embeddings",
    "attention_bias",
    "mlp_bias",
    "max_position_embeddings",
    "sliding_window",
    "use_sliding_window",
    "layer_types",
    "num_local_experts",
    "num_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "attn_logit_softcapping",
    "hidden_act",
    "activation_function",
    "partial_rotary_factor",
    "rope_parameters",
    "rotary_pct",
    "use_parallel_residual",
    "type_vocab_size",
    "image_size",
    "patch_size",
    "num_channels",
    "num_labels",
    "id2label",
    "sliding_window_pattern",
]
SIZES = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}
hostile = (
    st.sampled_from([0, -1, 1, 2, 3, 7, "x", "12", [], {}, None, True, 0.25, 1e-9, 10**9, 10**400, float("inf")]) | json_values
)
configs = st.builds(
    lambda model_type, changes: {"model_type": model_type} | SIZES | changes,
    st.sampled_from([*FAMILIES, "mamba", None]),
    st.dictionaries(st.sampled_from(CONFIG_KEYS), hostile, max_size=3),
)
good["object"] = configs


def values_of(field):
    """Values of its kind, most of them within its range where it has one."""
    if field.choices and field.kind != "names":
        return st.sampled_from(field.choices)
    if field.kind == "count" and field.most is not None:
        return st.integers(field.least, field.most + 1)
    if field.kind == "number" and field.most is not None:
        return st.fractions(field.least, field.most).map(float)
    return good[field.kind]


@settings(max_examples=400)
@given(st.data())
def test_run_never_raises_on_values_that_are_nearly_right(data):
    calculator = data.draw(st.sampled_from(list(FORMS.values())))
    question = calculator.fields[: bool(calculator.topic)]
    inputs = {field.name: calculator.topic for field in question}
    for field in calculator.fields[len(question) :]:
        if field.required or data.draw(st.booleans()):
            inputs[field.name] = data.draw(values_of(field))
    check(api.run(json.dumps({"calculator": calculator.name, "inputs": inputs, "language": "ar", "view": True})))


@settings(max_examples=400)
@given(
    configs, st.sampled_from(["full", "lora", "qlora"]), st.sampled_from(["none", "full"]), st.sampled_from(["sdpa", "eager"])
)
def test_run_never_raises_on_configs(config, method, checkpointing, attention):
    inputs = {"config": config, "micro_batch": 2, "sequence_length": 16, "method": method, "checkpointing": checkpointing}
    request = {"calculator": "training_memory", "inputs": inputs | {"attention": attention}, "view": True}
    check(api.run(json.dumps(request)))
    check(api.run(json.dumps({"calculator": "lora", "inputs": {"config": config, "rank": 2}, "view": True})))
