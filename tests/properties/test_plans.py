"""The planner against a search that tries everything, and against the calculator whose peaks it promises."""

import itertools
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from gradaccum import api, costs, planner

SWITCHES = ("method", "optimizer", "checkpointing", "loss", "sharding")


def answer(calculator, inputs):
    response = api.answer({"calculator": calculator, "inputs": inputs})
    assert response["ok"], response
    return response["outputs"]


def divisors(number):
    return [d for d in range(1, number + 1) if number % d == 0]


@settings(max_examples=3000)
@given(
    st.integers(1, 5000), st.integers(1, 12), st.integers(1, 10**12), st.integers(1, 10**13), st.integers(1, 10**14), st.data()
)
def test_sizes_alone_against_trying_every_micro_batch(batch, replicas, per_sample, fixed, budget, data):
    if data.draw(st.booleans()):
        batch *= replicas
    if data.draw(st.booleans()):
        # Near the edge, where one byte decides.
        budget = max(1, fixed + data.draw(st.integers(1, 40)) * per_sample + data.draw(st.integers(-1, 1)))
    inputs = {"effective_batch": batch, "replicas": replicas, "activation_per_sample": per_sample, "most_plans": 100}
    found = answer("plan", inputs | {"fixed_memory": fixed, "memory_budget": budget})
    if batch % replicas:
        assert found["verdict"] == "not_divisible"
        assert all(split["effective_batch"] % replicas == 0 for split in found["nearest"])
        assert batch not in [split["effective_batch"] for split in found["nearest"]]
        return
    share = batch // replicas
    fitting = [b for b in reversed(divisors(share)) if fixed + b * per_sample <= budget]
    if not fitting:
        assert found["verdict"] == "accumulation_cannot_help"
        assert found["shortfall"] == fixed + per_sample - budget
        return
    assert found["verdict"] == "fits"
    plans = [(p["micro_batch"], p["accumulation_steps"], p["peak"], p["headroom"]) for p in found["plans"]]
    assert plans == [(b, share // b, fixed + b * per_sample, budget - fixed - b * per_sample) for b in fitting]
    assert {p["effective_batch"] for p in found["plans"]} == {batch}
    above = [b for b in divisors(share) if b > fitting[0]]
    lacking = [fixed + above[0] * per_sample - budget] if above else []
    assert [row["lack"] for row in found.get("overflowing", [])] == lacking


small = st.fractions(Fraction(1, 100), Fraction(1), max_denominator=100)
ways = st.builds(
    lambda fixed, per_sample, update, idle, preference: planner.Way(
        planner.Linear(fixed, per_sample), costs.Costs(costs.Time(update), idle), (), (preference,)
    ),
    st.integers(1, 50),
    st.integers(1, 50),
    small,
    small,
    st.integers(0, 1),
)


@settings(max_examples=1000)
@given(st.lists(ways, min_size=1, max_size=6), st.integers(1, 500), st.integers(1, 2000), st.integers(1, 30))
def test_a_search_finds_the_best_of_all(ways, share, budget, most):
    ways = [planner.Way(w.need, w.costs, (), w.preference, (place,)) for place, w in enumerate(ways)]
    every = [planner.candidate(way, share, b) for way in ways for b in divisors(share)]
    fitting = sorted((c for c in every if c.peak <= budget), key=planner.rank)
    assert planner.search(ways, share, budget, most) == fitting[:most]
    assert planner.smallest(ways, share).peak == min(c.peak for c in every)


configs = st.builds(
    lambda model_type, heads, grouped, layers, vocabulary, tied: {
        "model_type": model_type,
        "hidden_size": 8 * heads,
        "intermediate_size": 24 * heads,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads // 2 if grouped else heads,
        "vocab_size": vocabulary,
        "tie_word_embeddings": tied,
    },
    st.sampled_from(["llama", "qwen2", "gpt2", "mixtral", "olmo2", "phi3"]),
    st.sampled_from([2, 4]),
    st.booleans(),
    st.integers(1, 4),
    st.integers(8, 600),
    st.booleans(),
)
allowed = {
    "method": ["full", "lora", "qlora"],
    "optimizer": ["adamw", "adamw-8bit", "sgd"],
    "checkpointing": ["none", "full"],
    "loss": ["standard", "fused"],
    "sharding": ["none", "zero1", "zero2", "zero3"],
}


def seconds(inputs, switches, steps, share):
    """The documented cost model, written down a second time from its description."""
    memory = answer("training_memory", inputs | switches | {"micro_batch": 1})
    whole = answer("training_memory", inputs | switches | {"micro_batch": 1, "replicas": 1, "sharding": "none"})
    g, stage = inputs["replicas"], allowed["sharding"].index(switches["sharding"]) if inputs["replicas"] > 1 else 0
    config, s = inputs["config"], inputs["sequence_length"]
    adapters = whole["trainable_parameters"] if switches["method"] != "full" else 0
    weights = whole["parameters"] + adapters
    active = Fraction(weights) - inactive(inputs, switches)
    operations = s * (2 * active + 4 * config["hidden_size"] * config["num_hidden_layers"] * s)
    again = switches["checkpointing"] == "full"
    compute = share * operations * (2 + Fraction(whole["trainable_parameters"], weights) + again) / costs.COMPUTE_RATE
    reading = steps * (2 + again) * (whole["weights"] + 4 * quantized(inputs, switches))
    gradients, sent = whole["gradients"], Fraction(g - 1, g)
    scattered = steps if stage >= 2 else 1
    travelling = sent * gradients * (scattered + (stage < 3)) + (2 * steps * sent * whole["weights"] if stage == 3 else 0)
    updating = Fraction(3 * gradients, g if stage else 1) + 2 * memory["optimizer_states"]
    return compute + (reading + updating) / Fraction(costs.MEMORY_BANDWIDTH) + travelling / Fraction(costs.NETWORK_BANDWIDTH)


def inactive(inputs, switches):
    """Weights of the experts that a token does not meet."""
    config = inputs["config"]
    if config["model_type"] != "mixtral":
        return 0
    h, f, rank = config["hidden_size"], config["intermediate_size"], 16
    expert = 3 * h * f
    if switches["method"] != "full":
        expert += 2 * rank * (h + 2 * f) + rank * (f + h)
    return config["num_hidden_layers"] * expert * (8 - 2)


def quantized(inputs, switches):
    """Weights that QLoRA stores in four bits: the linear layers but the head, not the stacked experts."""
    if switches["method"] != "qlora":
        return 0
    lora = answer("lora", {"config": inputs["config"], "rank": 1})
    config = inputs["config"]
    h, f, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    kv = h * config["num_key_value_heads"] // config["num_attention_heads"]
    if config["model_type"] == "gpt2":
        return layers * (3 * h * h + h * h + 8 * h * h)
    attention = h * (h + 2 * kv) + h * h
    assert lora["trainable_parameters"] > 0
    return layers * (attention + (0 if config["model_type"] == "mixtral" else 3 * h * f))


@settings(max_examples=200)
@given(configs, st.integers(1, 24), st.sampled_from([1, 1, 2, 3]), st.integers(4, 40), st.data())
def test_plans_of_models_against_trying_everything(config, share, replicas, length, data):
    chosen = {
        name: data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True), label=name)
        for name, values in allowed.items()
    }
    precision = data.draw(st.sampled_from(["bf16", "fp32", "bf16-mixed"]))
    inputs = {"config": config, "replicas": replicas, "sequence_length": length, "precision": precision}
    combinations = [dict(zip(SWITCHES, each, strict=True)) for each in itertools.product(*chosen.values())]
    if replicas == 1:
        combinations = [c for c in combinations if c["sharding"] == chosen["sharding"][0]]
    every = []
    for switches, b in itertools.product(combinations, divisors(share)):
        steps = share // b
        run = inputs | switches | {"micro_batch": b, "accumulation_steps": steps}
        rank = [chosen[name].index(switches[name]) for name in SWITCHES]
        time = seconds(inputs, switches, steps, share)
        every.append(((rank[:2], time, rank[2:]), answer("training_memory", run)["peak"], b, switches))
    budget = data.draw(st.sampled_from([peak for _, peak, _, _ in every])) + data.draw(st.sampled_from([-1, 0, 1]))
    found = answer("plan", inputs | chosen | {"effective_batch": share * replicas, "memory_budget": budget, "most_plans": 9})
    fitting = sorted((each for each in every if each[1] <= budget), key=lambda each: each[0])
    if not fitting:
        assert found["verdict"] == "accumulation_cannot_help"
        assert found["shortfall"] == min(peak for _, peak, _, _ in every) - budget
        for plan in found.get("helps", []):
            run = inputs | {name: plan[name] for name in (*SWITCHES, "micro_batch", "accumulation_steps")}
            assert plan["peak"] == answer("training_memory", run)["peak"] <= budget
        return
    assert found["verdict"] == "fits"
    assert [(p["peak"], p["micro_batch"], {name: p[name] for name in SWITCHES}) for p in found["plans"]] == [
        each[1:] for each in fitting[:9]
    ]
