import pytest

from gradaccum.architecture import architecture
from gradaccum.errors import InputError
from gradaccum.families import FAMILIES, family_of

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
        ("qwen2", {"sliding_window": 8}, {"sliding_layers": (False,) * 4}),
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
        ({"model_type": "llama"}, "missing", "config_key"),
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
        architecture(
            {"model_type": "llama"} | {name: size for name, size in SIZES.items() if name != "vocab_size"}, tuple(FAMILIES)
        )
    assert caught.value.details["key"] == "vocab_size"
