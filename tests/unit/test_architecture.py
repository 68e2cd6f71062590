from dataclasses import fields, replace

import pytest

from gradaccum.activations import parameters_of
from gradaccum.architecture import ACTIVATIONS, MOST, Architecture, architecture
from gradaccum.defaults import left_out
from gradaccum.errors import InputError
from gradaccum.families import FAMILIES, family_of
from gradaccum.setting import Setting

SIZES = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 100}


def read(model_type, **more):
    return architecture({"model_type": model_type} | SIZES | more, tuple(FAMILIES))


@pytest.mark.parametrize(
    "model_type, more, expected",
    [
        ("llama", {}, {"kv_heads": 4, "head_size": 16, "tied": False, "rotary": 16, "sliding_layers": (), "activation": "silu"}),
        ("llama", {"num_key_value_heads": 2, "head_dim": 24, "attention_bias": True, "mlp_bias": True}, {"kv_heads": 2, "head_size": 24, "qkv_bias": True, "output_bias": True, "mlp_bias": True}),
        ("llama", {"tie_word_embeddings": True, "hidden_act": "gelu_new"}, {"tied": True, "activation": "gelu_new"}),
        ("gpt2", {"head_dim": 7, "intermediate_size": None}, {"mlp": 256, "tied": True, "head_size": 16, "positions": 1024, "activation": "gelu_new"}),
        ("gpt2", {"n_inner": 99, "intermediate_size": None, "n_positions": 5}, {"mlp": 99, "positions": 5}),
        ("qwen2", {}, {"qkv_bias": True, "output_bias": False}),
        ("qwen2", {"sliding_window": 8, "use_sliding_window": False}, {"sliding_window": 0}),
        ("qwen2", {"sliding_window": 8}, {"sliding_window": 0, "sliding_layers": ()}),
        ("qwen2", {"sliding_window": 8, "use_sliding_window": True}, {"sliding_window": 8, "sliding_layers": (False,) * 4}),
        ("qwen2", {"use_sliding_window": True, "max_window_layers": 0}, {"sliding_window": 4096, "sliding_layers": (True,) * 4}),
        ("qwen3", {"use_sliding_window": True, "max_window_layers": 3}, {"sliding_window": 4096, "sliding_layers": (False,) * 3 + (True,)}),
        ("qwen3_moe", {"sliding_window": 8, "max_window_layers": 3}, {"sliding_window": 0, "sliding_layers": ()}),
        ("qwen3_moe", {"sliding_window": 8, "use_sliding_window": True, "max_window_layers": 3}, {"sliding_window": 8, "sliding_layers": (True,) * 4}),
        ("qwen3_moe", {"mlp_only_layers": None, "decoder_sparse_step": None}, {"experts": 128}),
        ("qwen3_moe", {"mlp_only_layers": [], "decoder_sparse_step": 1, "num_experts_per_tok": 128}, {"experts_per_token": 128}),
        ("mistral", {"use_sliding_window": False}, {"sliding_window": 4096}),
        ("mistral", {"num_attention_heads": 16}, {"kv_heads": 8}),
        ("mistral", {"num_attention_heads": "١٦"}, {"kv_heads": 8}),
        ("mistral", {"num_attention_heads": 16, "num_key_value_heads": None}, {"kv_heads": 16}),
        ("gpt2", {"add_cross_attention": False, "reorder_and_upcast_attn": None}, {"layers": 4}),
        ("vit", {"qkv_bias": False}, {"qkv_bias": False, "output_bias": True}),
        ("vit", {"attention_bias": False}, {"qkv_bias": True}),
        ("qwen3", {}, {"head_size": 128}),
        ("mistral", {}, {"sliding_window": 4096, "sliding_layers": (True,) * 4}),
        ("mistral", {"sliding_window": None}, {"sliding_window": 0, "sliding_layers": ()}),
        ("gemma2", {}, {"softcap_attention": True, "softcap_logits": True, "head_size": 256, "sliding_layers": (True, False, True, False), "activation": "gelu"}),
        ("gemma2", {"attn_logit_softcapping": None}, {"softcap_attention": False, "softcap_logits": True}),
        ("gemma3_text", {"sliding_window_pattern": 2}, {"softcap_logits": False, "sliding_layers": (True, False, True, False)}),
        ("gemma3_text", {"layer_types": ["full_attention", "sliding_attention"] * 2}, {"sliding_layers": (False, True, False, True)}),
        ("gpt_neox", {}, {"rotary": 4, "qkv_bias": True, "output_bias": True, "activation": "gelu", "parallel_residual": True}),
        ("gpt_neox", {"rotary_pct": 0.5, "use_parallel_residual": False}, {"rotary": 8, "parallel_residual": False}),
        ("phi3", {"rope_parameters": {"partial_rotary_factor": 0.75}}, {"rotary": 12}),
        ("phi3", {"rope_scaling": "none"}, {"rotary": 16}),
        ("granite", {}, {"kv_heads": 4, "tied": False, "qkv_bias": False, "mlp_bias": False, "activation": "silu"}),
        ("mixtral", {}, {"experts": 8, "experts_per_token": 2}),
        ("mixtral", {"num_local_experts": 4}, {"experts": 4}),
        ("qwen3_moe", {}, {"experts": 128, "experts_per_token": 8, "mlp": 768}),
        ("qwen3_moe", {"num_local_experts": 16, "moe_intermediate_size": 32}, {"experts": 16, "mlp": 32}),
        ("bert", {}, {"token_types": 2, "positions": 512, "labels": 2, "qkv_bias": True, "mlp_bias": True, "tied": True}),
        ("bert", {"id2label": {"0": "a", "1": "b", "2": "c"}}, {"labels": 3}),
        ("bert", {"num_labels": 5}, {"labels": 5}),
        ("llama", {"image_size": 224}, {"image": 0, "patch": 0}),
        ("vit", {}, {"vocabulary": 0, "image": 224, "patch": 16, "channels": 3, "qkv_bias": True, "positions": 512}),
    ],
)  # fmt: skip
def test_what_a_config_leaves_out(model_type, more, expected):
    found = read(model_type, **more)
    assert {name: getattr(found, name) for name in expected} == expected
    assert family_of(found) is FAMILIES[model_type]


@pytest.mark.parametrize(
    "config, code, rule",
    [
        ([], "wrong_type", "object"),
        ({}, "missing", "config_key"),
        ({"model_type": "mamba"}, "unsupported_model", "model"),
        ({"model_type": ["llama"]}, "unsupported_model", "model"),
        ({"model_type": "llama"} | SIZES | {"hidden_size": None}, "missing", "config_key"),
        ({"model_type": "gpt2", "n_layer": None}, "missing", "config_key"),
        ({"model_type": "mistral", "num_attention_heads": "many"}, "wrong_type", "config_count"),
        ({"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": -1}, "not_positive", "config_count"),
        ({"model_type": "qwen2", "use_sliding_window": "true"}, "wrong_type", "config_flag"),
        ({"model_type": "qwen3_moe", "mlp_only_layers": [0]}, "unsupported_model", "config_switch"),
        ({"model_type": "qwen3_moe", "decoder_sparse_step": 2}, "unsupported_model", "config_switch"),
        ({"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": True}, "unsupported_model", "config_switch"),
        ({"model_type": "bert", "is_decoder": True}, "unsupported_model", "config_switch"),
        ({"model_type": "bert", "is_decoder": 1}, "wrong_type", "config_flag"),
        ({"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 5}, "inconsistent", "config_experts"),
        ({"model_type": "llama"} | SIZES | {"vocab_size": None}, "missing", "config_key"),
        ({"model_type": "llama"} | SIZES | {"hidden_size": 0}, "not_positive", "config_count"),
        ({"model_type": "llama"} | SIZES | {"hidden_size": -4}, "not_positive", "config_count"),
        ({"model_type": "llama"} | SIZES | {"hidden_size": "wide"}, "wrong_type", "config_count"),
        ({"model_type": "llama"} | SIZES | {"hidden_size": [64]}, "wrong_type", "config_count"),
        ({"model_type": "llama"} | SIZES | {"hidden_size": 10**10}, "too_large", "config_count"),
        ({"model_type": "llama"} | SIZES | {"hidden_size": 10**400}, "too_large", "config_count"),
        ({"model_type": "llama"} | SIZES | {"num_hidden_layers": 10_001}, "too_large", "config_count"),
        ({"model_type": "llama"} | SIZES | {"tie_word_embeddings": "yes"}, "wrong_type", "config_flag"),
        ({"model_type": "llama"} | SIZES | {"num_key_value_heads": 3}, "inconsistent", "config_heads"),
        ({"model_type": "llama"} | SIZES | {"num_attention_heads": 7}, "inconsistent", "config_head_size"),
        ({"model_type": "llama"} | SIZES | {"hidden_act": "mish"}, "unsupported_model", "config_activation"),
        ({"model_type": "llama"} | SIZES | {"hidden_act": ["silu"]}, "unsupported_model", "config_activation"),
        ({"model_type": "phi3"} | SIZES | {"partial_rotary_factor": "half"}, "wrong_type", "config_part"),
        ({"model_type": "phi3"} | SIZES | {"partial_rotary_factor": 10**400}, "wrong_type", "config_part"),
        ({"model_type": "phi3"} | SIZES | {"partial_rotary_factor": 0}, "not_positive", "config_part"),
        ({"model_type": "phi3"} | SIZES | {"partial_rotary_factor": 1.5}, "too_large", "config_part"),
        ({"model_type": "mixtral"} | SIZES | {"num_local_experts": None}, "missing", "config_key"),
        ({"model_type": "vit"} | SIZES | {"image_size": 16, "patch_size": 32}, "too_large", "config_count"),
        # Patches are of 16 pixels where nothing else is said.
        ({"model_type": "vit"} | SIZES | {"image_size": 12}, "too_large", "config_count"),
    ],
)
def test_faults_of_a_config(config, code, rule):
    with pytest.raises(InputError) as caught:
        architecture(config, tuple(FAMILIES))
    assert (caught.value.field, caught.value.code, caught.value.rule) == ("config", code, rule)


@pytest.mark.parametrize(
    "model_type, activation",
    [("gpt2", "gelu_new"), ("gpt_neox", "gelu"), ("bert", "gelu"), ("vit", "gelu"), ("gemma2", "gelu"), ("gemma3_text", "gelu"), ("llama", "silu"), ("phi3", "silu")],
)  # fmt: skip
def test_what_a_family_activates_with(model_type, activation):
    assert read(model_type, image_size=32, patch_size=16).activation == activation
    # Transformers reads hidden_activation there, which is the same function in all published models.
    assert read(model_type, image_size=32, patch_size=16, hidden_act="silu").activation == (
        "gelu" if "gemma" in model_type else "silu"
    )


@pytest.mark.parametrize("model_type", ["mistral", "mixtral", "phi3"])
def test_these_families_slide_in_every_layer_when_they_have_a_window(model_type):
    more = {"num_local_experts": 4, "num_experts_per_tok": 2}
    assert read(model_type, sliding_window=8, **more).sliding_layers == (True,) * 4
    assert read(model_type, sliding_window=None, **more).sliding_layers == ()


def test_token_types_are_read_where_they_are_given():
    assert (read("bert").token_types, read("bert", type_vocab_size=5).token_types, read("llama").token_types) == (2, 5, 0)


def test_the_missing_key_is_named():
    with pytest.raises(InputError) as caught:
        architecture({"model_type": "llama"} | SIZES | {"vocab_size": None}, tuple(FAMILIES))
    assert caught.value.details["key"] == "vocab_size"


# The models that Transformers 5.24 builds when nothing but the model type is given, counted on its meta device.
@pytest.mark.parametrize(
    "model_type, parameters",
    [
        ("gpt2", 124_439_808),
        ("gpt_neox", 20_554_567_680),
        ("llama", 6_738_415_616),
        ("mistral", 7_241_732_096),
        ("qwen2", 12_049_846_272),
        ("qwen3", 12_049_461_248),
        ("gemma2", 2_614_341_888),
        ("gemma3_text", 2_628_658_432),
        ("phi3", 3_821_079_552),
        ("olmo2", 6_888_624_128),
        ("granite", 6_738_415_616),
        ("mixtral", 46_702_792_704),
        ("qwen3_moe", 15_350_731_776),
        ("bert", 109_483_778),
        ("vit", 85_800_194),
    ],
)
def test_a_config_of_nothing_but_its_type(model_type, parameters):
    counted = parameters_of(architecture({"model_type": model_type}, tuple(FAMILIES)), Setting())
    assert sum(parameter.count * times for parameter, times in counted) == parameters


def test_sizes_left_out_are_named_with_what_is_taken():
    assert left_out({"model_type": "gpt2", "n_embd": 64, "num_hidden_layers": 2}) == {
        "num_attention_heads": 12,
        "vocab_size": 50257,
    }
    assert left_out({"model_type": "mistral"} | SIZES) == {}
    assert left_out({"model_type": "mistral"} | SIZES | {"num_attention_heads": 8}) == {"num_key_value_heads": 8}
    assert left_out({"model_type": "mistral"} | SIZES | {"num_attention_heads": "many"}) == {}


BASE = {"hidden": 64, "mlp": 128, "layers": 4, "heads": 4, "kv_heads": 4, "head_size": 16, "vocabulary": 100}
ENCODER = {"output_bias": True, "mlp_bias": True, "qkv_bias": True, "positions": 512, "activation": "gelu"}
# All a family takes where a config says the sizes alone, from the configuration classes of Transformers 5.24.
WHOLE = {
    "llama": {"rotary": 16},
    "granite": {"rotary": 16},
    "olmo2": {"rotary": 16},
    "phi3": {"rotary": 16},
    "mistral": {"rotary": 16, "sliding_window": 4096, "sliding_layers": (True,) * 4},
    "qwen2": {"rotary": 16, "qkv_bias": True},
    "qwen3": {"rotary": 128, "head_size": 128},
    "qwen3_moe": {"rotary": 16, "mlp": 768, "experts": 128, "experts_per_token": 8, "normalised_choice": False},
    "mixtral": {"rotary": 16, "experts": 8, "experts_per_token": 2},
    "gpt2": {"rotary": 16, "tied": True, "positions": 1024, "activation": "gelu_new"},
    "gpt_neox": {"rotary": 4, "qkv_bias": True, "output_bias": True, "activation": "gelu"},
    "gemma2": {
        "rotary": 256,
        "head_size": 256,
        "tied": True,
        "activation": "gelu",
        "sliding_window": 4096,
        "sliding_layers": (True, False, True, False),
        "softcap_attention": True,
        "softcap_logits": True,
    },
    "gemma3_text": {
        "rotary": 256,
        "head_size": 256,
        "tied": True,
        "activation": "gelu",
        "sliding_window": 4096,
        "sliding_layers": (True,) * 4,
    },
    "bert": ENCODER | {"rotary": 16, "tied": True, "token_types": 2},
    "vit": ENCODER | {"rotary": 16, "vocabulary": 0, "image": 224, "patch": 16, "channels": 3},
}


def whole(model_type):
    return Architecture(model_type, **BASE | {"labels": 2} | WHOLE[model_type])


def test_all_that_a_family_takes_for_granted():
    assert {model_type: read(model_type) for model_type in FAMILIES} == {
        model_type: whole(model_type) for model_type in FAMILIES
    }


# One key more in a config, and all that it changes.
KEYS = [
    ("llama", {"hidden_size": 128}, {"hidden": 128, "head_size": 32, "rotary": 32}),
    ("llama", {"intermediate_size": 5}, {"mlp": 5}),
    ("llama", {"num_hidden_layers": 9}, {"layers": 9}),
    ("llama", {"num_attention_heads": 8}, {"heads": 8, "kv_heads": 8, "head_size": 8, "rotary": 8}),
    ("llama", {"num_key_value_heads": 2}, {"kv_heads": 2}),
    ("llama", {"vocab_size": 7}, {"vocabulary": 7}),
    ("llama", {"head_dim": 24}, {"head_size": 24, "rotary": 24}),
    ("llama", {"tie_word_embeddings": True}, {"tied": True}),
    ("llama", {"attention_bias": True}, {"qkv_bias": True, "output_bias": True}),
    ("llama", {"mlp_bias": True}, {"mlp_bias": True}),
    ("llama", {"max_position_embeddings": 77}, {"positions": 77}),
    ("llama", {"sliding_window": 8}, {"sliding_window": 8, "sliding_layers": (False,) * 4}),
    ("llama", {"num_labels": 7}, {"labels": 7}),
    ("llama", {"id2label": {}}, {}),
    ("llama", {"id2label": {"0": "a"}}, {"labels": 1}),
    ("llama", {"id2label": ["a", "b", "c"]}, {}),
    ("llama", {"patch_size": 4}, {"patch": 4}),
    ("llama", {"num_channels": 4}, {"channels": 4}),
    ("llama", {"num_local_experts": 3, "num_experts_per_tok": 2}, {"experts": 3, "experts_per_token": 2}),
    ("llama", {"rope_parameters": {"rotary_pct": 0.5}}, {"rotary": 8}),
    ("llama", {"rope_parameters": {"partial_rotary_factor": 0.5}, "rope_scaling": {"rotary_pct": 0.25}}, {"rotary": 8}),
    ("llama", {"rope_scaling": {"partial_rotary_factor": 0.25}}, {"rotary": 4}),
    ("llama", {"partial_rotary_factor": 0.5, "rope_scaling": {"partial_rotary_factor": 0.25}}, {"rotary": 8}),
    ("llama", {"partial_rotary_factor": 1}, {}),
    ("llama", {"partial_rotary_factor": "0.5", "rotary_pct": 0.25}, {"rotary": 8}),
    ("llama", {"hidden_activation": "relu", "hidden_act": "gelu", "activation_function": "gelu_new"}, {"activation": "relu"}),
    ("llama", {"hidden_act": "gelu", "activation_function": "gelu_new"}, {"activation": "gelu"}),
    ("llama", {"activation_function": "gelu_new"}, {"activation": "gelu_new"}),
    ("llama", {"hidden_act": None}, {}),
    ("llama", {"attn_logit_softcapping": 50.0}, {"softcap_attention": True}),
    ("llama", {"final_logit_softcapping": 30.0}, {"softcap_logits": True}),
    ("llama", {"layer_types": ["sliding_attention"] * 4}, {}),
    ("gpt2", {"n_embd": 32}, {}),
    ("gpt2", {"hidden_size": None, "n_embd": 32}, {"hidden": 32, "head_size": 8, "rotary": 8}),
    ("gpt2", {"num_hidden_layers": None, "n_layer": 3}, {"layers": 3}),
    ("gpt2", {"num_attention_heads": None, "n_head": 8}, {"heads": 8, "kv_heads": 8, "head_size": 8, "rotary": 8}),
    ("gpt2", {"head_dim": 7}, {}),
    ("gpt2", {"intermediate_size": None}, {"mlp": 256}),
    ("gpt2", {"max_position_embeddings": 5, "n_positions": 6}, {"positions": 5}),
    ("gpt2", {"tie_word_embeddings": False}, {"tied": False}),
    ("qwen2", {"attention_bias": False}, {"qkv_bias": False}),
    ("qwen2", {"sliding_window": 8, "use_sliding_window": True, "layer_types": ["full_attention", "sliding_attention"] * 2}, {"sliding_window": 8, "sliding_layers": (False, True) * 2}),
    ("qwen2", {"sliding_window": 8, "use_sliding_window": True, "layer_types": ["sliding_attention"] * 3}, {"sliding_window": 8, "sliding_layers": (False,) * 4}),
    ("qwen2", {"sliding_window": 8, "use_sliding_window": False}, {}),
    ("qwen3_moe", {"num_experts": 16}, {"experts": 16}),
    ("qwen3_moe", {"norm_topk_prob": True}, {"normalised_choice": True}),
    ("qwen3_moe", {"moe_intermediate_size": 32}, {"mlp": 32}),
    ("mixtral", {"num_experts_per_tok": 1}, {"experts_per_token": 1}),
    ("mixtral", {"norm_topk_prob": False}, {"normalised_choice": False}),
    ("gpt_neox", {"use_parallel_residual": False}, {"parallel_residual": False}),
    ("gpt_neox", {"attention_bias": False}, {"qkv_bias": False, "output_bias": False}),
    ("gemma2", {"tie_word_embeddings": False}, {"tied": False}),
    ("gemma2", {"final_logit_softcapping": None}, {"softcap_logits": False}),
    ("gemma3_text", {"num_hidden_layers": 7}, {"layers": 7, "sliding_layers": (True,) * 5 + (False, True)}),
    ("gemma3_text", {"sliding_window_pattern": 3}, {"sliding_layers": (True, True, False, True)}),
    ("bert", {"type_vocab_size": 1}, {"token_types": 1}),
    ("bert", {"attention_bias": False, "mlp_bias": False}, {"qkv_bias": False, "output_bias": False, "mlp_bias": False}),
    ("vit", {"image_size": 32, "patch_size": 8, "num_channels": 1}, {"image": 32, "patch": 8, "channels": 1}),
    ("vit", {"image_size": 16}, {"image": 16}),
    ("vit", {"vocab_size": 5}, {}),
    ("vit", {"attention_bias": False}, {"output_bias": False}),
]  # fmt: skip


@pytest.mark.parametrize("model_type, more, changed", KEYS)
def test_a_key_changes_what_it_names_and_nothing_else(model_type, more, changed):
    assert read(model_type, **more) == replace(whole(model_type), **changed)


def test_every_size_is_changed_by_some_key():
    assert {name for _, _, changed in KEYS for name in changed} == {field.name for field in fields(Architecture)} - {
        "model_type"
    }


@pytest.mark.parametrize("name, activation", ACTIVATIONS.items())
def test_activations_by_their_names(name, activation):
    assert read("llama", hidden_act=name).activation == activation


FAULTS = [
    (5, {"value": 5}),
    ({}, {"key": "model_type"}),
    ({"model_type": "mamba"}, {"value": "mamba", "known": ", ".join(FAMILIES)}),
    ({"hidden_size": None}, {"key": "hidden_size"}),
    ({"num_attention_heads": None}, {"key": "num_attention_heads"}),
    ({"num_hidden_layers": None}, {"key": "num_hidden_layers"}),
    ({"intermediate_size": None}, {"key": "intermediate_size"}),
    ({"vocab_size": 0}, {"key": "vocab_size", "value": 0, "least": 1, "greatest": MOST}),
    ({"vocab_size": MOST + 1}, {"key": "vocab_size", "value": MOST + 1, "least": 1, "greatest": MOST}),
    ({"num_hidden_layers": 10_001}, {"key": "num_hidden_layers", "value": 10_001, "least": 1, "greatest": 10_000}),
    ({"num_hidden_layers": "x"}, {"key": "num_hidden_layers", "value": "x", "least": 1, "greatest": 10_000}),
    ({"hidden_size": None, "n_embd": -1}, {"key": "n_embd", "value": -1, "least": 1, "greatest": MOST}),
    ({"tie_word_embeddings": 1}, {"key": "tie_word_embeddings", "value": 1}),
    ({"num_key_value_heads": 3}, {"heads": 4, "kv_heads": 3}),
    ({"hidden_size": 66}, {"hidden": 66, "heads": 4}),
    ({"hidden_act": "mish"}, {"value": "mish", "known": ", ".join(ACTIVATIONS)}),
    ({"rotary_pct": "half"}, {"key": "rotary_pct", "value": "half"}),
    ({"rotary_pct": []}, {"key": "rotary_pct", "value": []}),
    ({"rotary_pct": 0}, {"key": "rotary_pct", "value": 0}),
    ({"partial_rotary_factor": 1.5}, {"key": "partial_rotary_factor", "value": 1.5}),
    ({"model_type": "mixtral", "num_experts_per_tok": None}, {"key": "num_experts_per_tok"}),
    ({"model_type": "mixtral", "num_local_experts": None}, {"key": "num_local_experts"}),
    ({"model_type": "vit", "image_size": 12}, {"key": "patch_size", "value": 16, "least": 1, "greatest": 12}),
]


@pytest.mark.parametrize("config, details", FAULTS)
def test_a_fault_names_the_key_what_stood_there_and_the_limit(config, details):
    if isinstance(config, dict) and config:
        config = {"model_type": "llama"} | SIZES | config
    with pytest.raises(InputError) as caught:
        architecture(config, tuple(FAMILIES))
    assert caught.value.details == details


def test_the_largest_sizes_are_taken():
    largest = read("llama", hidden_size=MOST, num_hidden_layers=10_000, vocab_size=MOST, intermediate_size=MOST)
    assert (largest.hidden, largest.layers, largest.vocabulary, largest.mlp) == (MOST, 10_000, MOST, MOST)
