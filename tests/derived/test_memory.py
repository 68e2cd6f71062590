"""Memory once more, from the published description of a Llama block and of a training step, without looking at the tape."""

import json
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gradaccum import api

ITEM = {"bf16": 2, "fp32": 4}


def ask(calculator, **inputs):
    found = json.loads(api.run(json.dumps({"calculator": calculator, "inputs": inputs})))
    assert found["ok"], found
    return found["outputs"]


# Heads of a multiple of eight: the flash kernel widens others to the next one.
llamas = st.builds(
    lambda heads, groups, half, mlp, layers, vocabulary, tied: {
        "model_type": "llama",
        "hidden_size": 8 * half * heads * groups,
        "intermediate_size": mlp,
        "num_hidden_layers": layers,
        "num_attention_heads": heads * groups,
        "num_key_value_heads": heads,
        "vocab_size": vocabulary,
        "tie_word_embeddings": tied,
    },
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 300),
    st.integers(1, 5),
    st.integers(2, 500),
    st.booleans(),
)


def sizes(config):
    h, heads, kv = config["hidden_size"], config["num_attention_heads"], config["num_key_value_heads"]
    return h, config["intermediate_size"], config["num_hidden_layers"], heads, kv, h // heads, config["vocab_size"]


def matrices(config):
    """The linear layers of one block, by name, as (inputs, outputs)."""
    h, f, _, heads, kv, d, _ = sizes(config)
    return {
        "q_proj": (h, heads * d),
        "k_proj": (h, kv * d),
        "v_proj": (h, kv * d),
        "o_proj": (heads * d, h),
        "gate_proj": (h, f),
        "up_proj": (h, f),
        "down_proj": (f, h),
    }


def parameters(config):
    h, _, layers, _, _, _, vocabulary = sizes(config)
    block = sum(math.prod(shape) for shape in matrices(config).values()) + 2 * h
    return layers * block + h + vocabulary * h * (1 if config["tie_word_embeddings"] else 2)


@settings(max_examples=80)
@given(llamas, st.integers(2, 40))
def test_a_sample_s_activations_are_the_tensors_its_block_keeps(config, s):
    h, f, layers, heads, kv, d, vocabulary = sizes(config)
    # In bf16 with flash attention. A norm keeps its input in fp32, a factor in fp32, its normalised input and its output.
    norm = 4 * s * h + 4 * s + 2 * s * h + 2 * s * h
    # Queries, keys, values, the output (which the projection after it shares), and a sum of exponentials for each head.
    attention = 2 * s * heads * d + 2 * (2 * s * kv * d) + 2 * s * heads * d + 4 * s * heads
    # The gate's output, its activation, up's output, and their product. A sum keeps nothing.
    mlp = 4 * (2 * s * f)
    # The loss keeps the logits in fp32; token ids are kept for the embedding and for the loss, eight bytes each.
    whole = layers * (2 * norm + attention + mlp) + norm + 4 * s * vocabulary + 2 * (8 * s)
    found = ask("training_memory", config=config, sequence_length=s, micro_batch=3, attention="flash")
    assert found["activation_per_sample"] == whole
    assert found["parameters"] == parameters(config)


@settings(max_examples=80)
@given(
    llamas, st.integers(1, 64), st.lists(st.sampled_from(["q_proj", "v_proj", "up_proj", "down_proj"]), min_size=1, unique=True)
)
def test_adapters_are_counted_matrix_by_matrix(config, rank, targets):
    shapes = matrices(config)
    for chosen, names in ((targets, targets), ("all-linear", list(shapes)), ("attention", list(shapes)[:4])):
        count = 0
        for name in names:
            inputs, outputs = shapes[name]
            # A maps the inputs to the rank, B the rank to the outputs.
            count += config["num_hidden_layers"] * (rank * inputs + outputs * rank)
        found = ask("lora", config=config, rank=rank, targets=chosen)
        assert found["trainable_parameters"] == count
        assert found["base_parameters"] == parameters(config)
        assert found["adapter_bytes"] == 4 * count
        assert math.isclose(found["trainable_fraction"], count / (count + parameters(config)))


def pieces(size, parts):
    """What the largest of equal parts holds, dealt out byte by byte."""
    return max(len(range(part, size, parts)) for part in range(parts))


STATE = {"adamw": 2, "sgd-momentum": 1, "sgd": 0}
SHARDED = {"none": (), "zero1": ("state",), "zero2": ("state", "gradients"), "zero3": ("state", "gradients", "weights")}


@pytest.mark.parametrize("sharding", SHARDED)
@settings(max_examples=25)
@given(llamas, st.integers(1, 9), st.sampled_from(sorted(ITEM)), st.sampled_from(sorted(STATE)), st.booleans())
def test_what_each_device_holds(sharding, config, replicas, precision, optimizer, deferred):
    count = parameters(config)
    whole = {"weights": count * ITEM[precision], "gradients": count * ITEM[precision]}
    whole["state"] = STATE[optimizer] * count * ITEM[precision]
    held = {name: pieces(size, replicas if name in SHARDED[sharding] else 1) for name, size in whole.items()}
    if deferred:
        held["gradients"] = whole["gradients"]
    inputs = {"precision": precision, "optimizer": optimizer, "sharding": sharding, "replicas": replicas}
    found = ask("training_memory", config=config, sequence_length=4, micro_batch=1, defer_reduction=deferred, **inputs)
    assert (found["weights"], found["gradients"], found["optimizer_states"]) == tuple(held.values())
    # AdamW over lists of tensors copies the weights it updates, once: each device those of its own part.
    copied = whole["weights"] if optimizer == "adamw" else 0
    step = next(phase["peak"] for phase in found["phases"] if phase["phase"] == "optimizer_step")
    assert step == sum(held.values()) + pieces(copied, replicas if SHARDED[sharding] else 1)


@settings(max_examples=60)
@given(llamas, st.integers(2, 24), st.integers(1, 4), st.integers(2, 50), st.sampled_from(["none", "full"]), st.booleans())
def test_the_step_is_a_sequence_of_phases(config, s, b, a, checkpointing, foreach):
    common = {"config": config, "sequence_length": s, "micro_batch": b, "checkpointing": checkpointing, "foreach": foreach}
    one = ask("training_memory", **common)
    two = ask("training_memory", **common, accumulation_steps=2)
    many = ask("training_memory", **common, accumulation_steps=a)
    phases = {phase["phase"]: phase for phase in two["phases"]}
    # What two micro-batches cost, any number of them costs.
    assert two["phases"] == many["phases"]
    assert [phase["phase"] for phase in one["phases"]] == ["first_forward", "first_backward", "optimizer_step"]
    # A later pass finds the gradients there: exactly one buffer more.
    assert phases["later_forward"]["peak"] - phases["first_forward"]["peak"] == two["gradients"]
    assert two["peak"] - one["peak"] <= two["gradients"]
    assert phases["later_backward"]["parts"]["gradients"] == two["gradients"]
    held = two["weights"] + two["gradients"] + two["optimizer_states"]
    # AdamW over lists of tensors copies the weights once; one by one, it needs two copies of a tensor beside the last one's.
    weights = 2 * parameters(config)
    largest = 2 * max(*(math.prod(shape) for shape in matrices(config).values()), config["vocab_size"] * config["hidden_size"])
    temporaries = phases["optimizer_step"]["peak"] - held
    assert temporaries == weights if foreach else 2 * largest <= temporaries <= 3 * largest
    in_place = ask("training_memory", **common, accumulation_steps=a, zero_grad_to_none=False)
    peaks = {phase["phase"]: phase["peak"] for phase in in_place["phases"]}
    assert peaks["first_forward"] == peaks["later_forward"] == phases["later_forward"]["peak"]


@settings(max_examples=40)
@given(llamas, st.integers(2, 16), st.integers(2, 6))
def test_kept_bytes_are_a_line_in_the_micro_batch(config, s, b):
    kept = [ask("training_memory", config=config, sequence_length=s, micro_batch=n)["activations"] for n in (b, b + 1, b + 2)]
    per_sample = ask("training_memory", config=config, sequence_length=s, micro_batch=b)["activation_per_sample"]
    assert kept[2] - kept[1] == kept[1] - kept[0] == per_sample


@settings(max_examples=40)
@given(llamas, st.integers(2, 16), st.integers(0, 3), st.data())
def test_the_largest_micro_batch_is_the_last_that_fits(config, s, steps, data):
    def peak(b):
        return ask("training_memory", config=config, sequence_length=s, micro_batch=b, accumulation_steps=steps + 1)["peak"]

    peaks = [peak(b) for b in range(1, 12)]
    budget = data.draw(st.sampled_from(peaks[:-1])) + data.draw(st.sampled_from([-1, 0, 1]))
    assume(budget < peaks[-1])
    found = ask(
        "training_memory", config=config, sequence_length=s, micro_batch=1, accumulation_steps=steps + 1, memory_budget=budget
    )
    assert found["largest_micro_batch"] == sum(size <= budget for size in peaks)
    assert found["fits"] == (peaks[0] <= budget)
