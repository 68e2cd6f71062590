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
