"""What Transformers takes where a ``config.json`` leaves a key out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradaccum.errors import InputError
from gradaccum.units import read_count

# The same size goes by other names in some families.
NAMES = {
    "hidden_size": ("hidden_size", "n_embd"),
    "num_hidden_layers": ("num_hidden_layers", "n_layer"),
    "num_attention_heads": ("num_attention_heads", "n_head"),
    "max_position_embeddings": ("max_position_embeddings", "n_positions"),
    "intermediate_size": ("intermediate_size", "n_inner"),
    "experts": ("num_local_experts", "num_experts"),
}
_SIZES = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
)
# Zero where a family has no such size, or takes it from the others.
_SIZES_OF = {
    "gpt2": (768, 0, 12, 12, 0, 50257),
    "gpt_neox": (6144, 24576, 44, 64, 0, 50432),
    "llama": (4096, 11008, 32, 32, 0, 32000),
    "mistral": (4096, 14336, 32, 32, 8, 32000),
    "qwen2": (4096, 22016, 32, 32, 32, 151936),
    "qwen3": (4096, 22016, 32, 32, 32, 151936),
    "gemma2": (2304, 9216, 26, 8, 4, 256000),
    "gemma3_text": (2304, 9216, 26, 8, 4, 262208),
    "phi3": (3072, 8192, 32, 32, 0, 32064),
    "olmo2": (4096, 11008, 32, 32, 0, 50304),
    "granite": (4096, 11008, 32, 32, 0, 32000),
    "mixtral": (4096, 14336, 32, 32, 8, 32000),
    "qwen3_moe": (2048, 6144, 24, 32, 4, 151936),
    "bert": (768, 3072, 12, 12, 0, 30522),
    "vit": (768, 3072, 12, 12, 0, 0),
}
_OTHERS: dict[str, dict[str, Any]] = {
    "mistral": {"sliding_window": 4096},
    "qwen2": {"sliding_window": 4096},
    "qwen3": {"head_dim": 128, "sliding_window": 4096},
    "gemma2": {"sliding_window": 4096, "head_dim": 256, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0},
    "gemma3_text": {"sliding_window": 4096, "head_dim": 256},
    "mixtral": {"num_local_experts": 8, "num_experts_per_tok": 2},
    "qwen3_moe": {"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768, "sliding_window": 4096},
}


def left_out(config: Mapping[str, Any]) -> dict[str, int]:
    """The sizes a config does not name, by Transformers' name, with what its family takes for them.

    A key that is null counts as named: it means none. Heads of keys and values that do not divide those of queries are left
    away, since no model runs with them.
    Source: the configuration classes of Transformers 5.24.

    >>> left_out({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "vocab_size": 32768})
    {'num_hidden_layers': 32, 'num_attention_heads': 32, 'num_key_value_heads': 8}
    """
    sizes = dict(zip(_SIZES, _SIZES_OF[config["model_type"]], strict=True))
    missing = {key: size for key, size in sizes.items() if size and not _named(config, key)}
    heads = next((config[name] for name in NAMES["num_attention_heads"] if name in config), sizes["num_attention_heads"])
    if not _divides(missing.get("num_key_value_heads", 1), heads):
        del missing["num_key_value_heads"]
    return missing


def completed(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with its family's defaults.

    >>> completed({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 2})
    {'vocab_size': 50257, 'model_type': 'gpt2', 'n_embd': 64, 'n_layer': 2, 'n_head': 2}
    """
    others = {key: value for key, value in _OTHERS.get(config["model_type"], {}).items() if not _named(config, key)}
    return left_out(config) | others | dict(config)


def _divides(kv_heads: int, heads: object) -> bool:
    """Whether heads can be shared out; what cannot be read is a fault that is told elsewhere."""
    try:
        return kv_heads == 1 or not read_count(heads, "config") % kv_heads
    except InputError:
        return False


def _named(config: Mapping[str, Any], key: str) -> bool:
    """Whether the key stands there, under any of its names."""
    return any(name in config for names in ((key,), *NAMES.values()) if key in names for name in names)
