import pytest

from gradaccum import adapters, models
from gradaccum.catalogue import models as catalogue
from gradaccum.errors import InputError

LLAMA = models.chosen({"model": "llama-3-8b"})
EACH = {model["config"]["model_type"]: name for name, model in catalogue().items()}


def trained(architecture, rank, targets):
    return sum(p.count * times for p, times in adapters.adapted(architecture, rank, targets, "fp32") if p.trainable)


@pytest.mark.parametrize(
    "rank, targets, parameters",
    [
        (16, "all-linear", 41_943_040),
        (16, ("q_proj", "v_proj"), 6_815_744),
        (8, ("self_attn.q_proj",), 32 * 8 * 8192),
        (8, ("o_proj", "self_attn.o_proj"), 32 * 8 * 8192),
    ],
)
def test_trained_weights(rank, targets, parameters):
    assert trained(LLAMA, rank, targets) == parameters


def test_weights_by_module():
    modules = adapters.by_module(adapters.adapted(LLAMA, 2, ("q_proj", "v_proj"), "bf16"))
    assert modules == {"self_attn.q_proj": 32 * 2 * 8192, "self_attn.v_proj": 32 * 2 * 5120}


@pytest.mark.parametrize("name", EACH.values(), ids=EACH)
def test_attention_is_a_part_of_all_linear(name):
    architecture = models.chosen({"model": name})
    targets = adapters.target_names(architecture, "attention")
    assert 0 < trained(architecture, 4, targets) < trained(architecture, 4, "all-linear")


def test_names_are_taken_once():
    assert adapters.target_names(LLAMA, ["q_proj", "v_proj", "q_proj"]) == ("q_proj", "v_proj")
    assert adapters.target_names(LLAMA, "all-linear") == "all-linear"


@pytest.mark.parametrize("name", ["proj", "lm_head", "query", "q_proj.", "norm"])
def test_a_name_no_layer_has(name):
    with pytest.raises(InputError) as caught:
        adapters.adapted(LLAMA, 4, ("q_proj", name), "fp32")
    assert (caught.value.field, caught.value.code, caught.value.details["value"]) == ("targets", "unknown_value", name)
    assert "q_proj" in caught.value.details["known"]


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_adapters_have_their_own_dtype_and_the_model_is_frozen(dtype):
    found = adapters.adapted(LLAMA, 4, ("q_proj", "v_proj"), dtype)
    assert {p.dtype for p, _ in found if p.trainable} == {dtype}
    assert all(not p.quantized for p, _ in found)
    assert not any(p.trainable for p, _ in found if "lora" not in p.name)


# Names by the modules of Transformers 5.24, each with its inputs and outputs at 64 hidden, 128 inside the MLP, two of four heads.
LLAMA_LIKE = {
    "self_attn.q_proj": (64, 64),
    "self_attn.k_proj": (64, 32),
    "self_attn.v_proj": (64, 32),
    "self_attn.o_proj": (64, 64),
}
GATED = {"mlp.gate_proj": (64, 128), "mlp.up_proj": (64, 128), "mlp.down_proj": (128, 64)}
ATTENTION_AND_REST = {
    "gpt2": ({"attn.c_attn": (64, 192), "attn.c_proj": (64, 64)}, {"mlp.c_fc": (64, 128), "mlp.c_proj": (128, 64)}),
    "gpt_neox": (
        {"attention.query_key_value": (64, 192), "attention.dense": (64, 64)},
        {"mlp.dense_h_to_4h": (64, 128), "mlp.dense_4h_to_h": (128, 64)},
    ),
    "phi3": (
        {"self_attn.qkv_proj": (64, 128), "self_attn.o_proj": (64, 64)},
        {"mlp.gate_up_proj": (64, 256), "mlp.down_proj": (128, 64)},
    ),
    "bert": (
        {f"attention.{name}": (64, 64) for name in ("self.query", "self.key", "self.value", "output.dense")},
        {"intermediate.dense": (64, 128), "output.dense": (128, 64)},
    ),
    "vit": (
        {f"attention.{name}_proj": (64, 64) for name in "qkvo"},
        {"mlp.fc1": (64, 128), "mlp.fc2": (128, 64)},
    ),
} | dict.fromkeys(("llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3_text", "olmo2", "granite"), (LLAMA_LIKE, GATED))
ALL_HEADS = ("gpt2", "gpt_neox", "bert", "vit")


@pytest.mark.parametrize("model_type", ATTENTION_AND_REST)
def test_each_layer_gets_its_two_matrices(model_type):
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": 16}
    sizes |= {"vocab_size": 100, "num_key_value_heads": 4 if model_type in ALL_HEADS else 2, "image_size": 32}
    architecture = models.chosen({"config": {"model_type": model_type} | sizes})
    attention, rest = ATTENTION_AND_REST[model_type]
    # BERT's pooler stands once, after all layers.
    once = {"pooler.dense": 2 * 128} if model_type == "bert" else {}

    def trains(layers):
        return {name: 3 * 2 * sum(shape) for name, shape in layers.items()}

    targets = adapters.target_names(architecture, "attention")
    assert adapters.by_module(adapters.adapted(architecture, 2, targets, "bf16")) == trains(attention)
    assert adapters.by_module(adapters.adapted(architecture, 2, "all-linear", "bf16")) == trains(attention | rest) | once


def test_names_that_could_be_meant_are_told_once():
    with pytest.raises(InputError) as caught:
        adapters.check_targets(LLAMA, ("nothing", "q_proj", "none"))
    error = caught.value
    assert (error.rule, error.details["value"]) == ("known_names", "nothing, none")
    assert error.details["known"].split(", ") == ["down_proj", "gate_proj", "up_proj", "k_proj", "o_proj", "q_proj", "v_proj"]
    assert adapters.check_targets(LLAMA, "whatever") is None
    # Only the last part of a path is told, however deep the layer lies.
    with pytest.raises(InputError) as caught:
        adapters.check_targets(models.chosen({"model": EACH["bert"]}), ("nothing",))
    assert set(caught.value.details["known"].split(", ")) == {"query", "key", "value", "dense"}
