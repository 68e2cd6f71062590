"""A model's sizes, read from a Hugging Face ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradaccum.defaults import NAMES, completed
from gradaccum.errors import InputError
from gradaccum.units import read_count

MOST = 10**9
"""Largest size of one dimension that is taken for real."""
ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "gelu_new": "gelu_new",
    "relu": "relu",
}


MIXTURES = ("mixtral", "qwen3_moe")
# Switches that change what a block does, and that no block here knows.
SWITCHES = {
    "gpt2": ("add_cross_attention", "reorder_and_upcast_attn", "scale_attn_by_inverse_layer_idx"),
    "bert": ("add_cross_attention", "is_decoder"),
}


@dataclass(frozen=True)
class Architecture:
    """Sizes in the field's symbols: h hidden, f MLP, L layers, H heads, K key-value heads, d head size, V vocabulary."""

    model_type: str
    hidden: int
    mlp: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int = 0
    tied: bool = False
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    positions: int = 0
    rotary: int = 0
    sliding_window: int = 0
    sliding_layers: tuple[bool, ...] = ()
    experts: int = 0
    experts_per_token: int = 0
    normalised_choice: bool = True
    activation: str = "silu"
    softcap_attention: bool = False
    softcap_logits: bool = False
    parallel_residual: bool = True
    token_types: int = 0
    labels: int = 0
    image: int = 0
    patch: int = 0
    channels: int = 0


class _Config:
    """Typed look-ups that name the key at fault."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config

    def count(self, key: str, default: int | None = None, *, least: int = 1, most: int = MOST) -> int:
        """A size; the default where the key is absent or null, an error where there is none."""
        names = NAMES.get(key, (key,))
        name = next((n for n in names if self.config.get(n) is not None), None)
        if name is None:
            if default is None:
                raise InputError("config", "missing", "config_key", key=names[0])
            name, value = names[0], default
        else:
            try:
                value = read_count(self.config[name], "config", minimum=least)
            except InputError as error:
                words = {"key": name, "value": self.config[name], "least": least, "greatest": most}
                raise InputError("config", error.code, "config_count", **words) from error
        # A default may be too large beside another size: patches of 16 pixels in an image of 12.
        if value > most:
            raise InputError("config", "too_large", "config_count", key=name, value=value, least=least, greatest=most)
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self.config.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise InputError("config", "wrong_type", "config_flag", key=key, value=value)
        return value

    def has(self, key: str) -> bool:
        """Whether the key is there and not null."""
        return self.config.get(key) is not None


def architecture(config: object, known: tuple[str, ...]) -> Architecture:
    """The sizes a ``config.json`` names, with Transformers' defaults for what it leaves out.

    ``config``: the decoded object; ``known``: the model types that can be written down.
    Errors, all at ``config``: ``wrong_type``, ``unsupported_model``, ``missing``, ``not_positive``, ``too_large``,
    ``inconsistent``.
    Source: the configuration classes of Transformers 5.24.

    >>> gpt2 = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}
    >>> architecture(gpt2, ("gpt2",)).mlp
    3072
    """
    if not isinstance(config, Mapping):
        raise InputError("config", "wrong_type", "object", value=config)
    model_type = config.get("model_type")
    if model_type is None:
        raise InputError("config", "missing", "config_key", key="model_type")
    if not isinstance(model_type, str) or model_type not in known:
        raise InputError("config", "unsupported_model", "model", value=model_type, known=", ".join(known))
    config = completed(config)
    read = _Config(config)
    _check_switches(read, model_type)
    hidden, heads = read.count("hidden_size"), read.count("num_attention_heads")
    kv_heads = read.count("num_key_value_heads", heads)
    if heads % kv_heads:
        raise InputError("config", "inconsistent", "config_heads", heads=heads, kv_heads=kv_heads)
    head_size = _head_size(read, hidden, heads)
    layers = read.count("num_hidden_layers", most=10_000)
    # The switch is Qwen's alone, and off unless it is set.
    slides = not model_type.startswith("qwen") or read.flag("use_sliding_window", default=False)
    sliding_window = read.count("sliding_window", 0) if slides else 0
    rotary = int(head_size * _fraction(config))
    encoder = model_type in ("bert", "vit")
    image = read.count("image_size", 224) if model_type == "vit" else 0
    experts = read.count("experts", None if model_type in MIXTURES else 0)
    experts_per_token = read.count("num_experts_per_tok", None if model_type in MIXTURES else 0)
    if experts and experts_per_token > experts:
        raise InputError("config", "inconsistent", "config_experts", experts=experts, per_token=experts_per_token)
    return Architecture(
        model_type=model_type,
        hidden=hidden,
        mlp=read.count("moe_intermediate_size", 0)
        or read.count("intermediate_size", 4 * hidden if model_type == "gpt2" else None),
        layers=layers,
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        vocabulary=0 if model_type == "vit" else read.count("vocab_size"),
        tied=read.flag("tie_word_embeddings", default=model_type in ("gpt2", "gemma2", "gemma3_text", "bert")),
        qkv_bias=read.flag(
            "qkv_bias" if model_type == "vit" else "attention_bias",
            default=encoder or model_type in ("qwen2", "gpt_neox"),
        ),
        output_bias=model_type != "qwen2" and read.flag("attention_bias", default=encoder or model_type == "gpt_neox"),
        mlp_bias=read.flag("mlp_bias", default=encoder),
        positions=read.count("max_position_embeddings", 512 if encoder else 0)
        if model_type != "gpt2"
        else read.count("max_position_embeddings", 1024),
        rotary=rotary,
        sliding_window=sliding_window,
        sliding_layers=_sliding(read, model_type, layers) if sliding_window else (),
        experts=experts,
        experts_per_token=experts_per_token,
        normalised_choice=read.flag("norm_topk_prob", default=model_type != "qwen3_moe"),
        activation=_activation(config, model_type),
        softcap_attention=read.has("attn_logit_softcapping"),
        softcap_logits=read.has("final_logit_softcapping"),
        parallel_residual=read.flag("use_parallel_residual", default=True),
        token_types=read.count("type_vocab_size", 2 if model_type == "bert" else 0),
        labels=read.count("num_labels", _labels(config)),
        image=image,
        patch=read.count("patch_size", 16 if model_type == "vit" else 0, most=image or MOST),
        channels=read.count("num_channels", 3 if model_type == "vit" else 0),
    )


def _check_switches(read: _Config, model_type: str) -> None:
    """Keys that make another model than the one a family writes down: better no answer than that of its neighbour."""
    for key in SWITCHES.get(model_type, ()):
        if read.flag(key, default=False):
            raise InputError("config", "unsupported_model", "config_switch", key=key, value=True)
    for key, plain in (("mlp_only_layers", []), ("decoder_sparse_step", 1)) if model_type == "qwen3_moe" else ():
        value = read.config.get(key)
        if value not in (None, plain):
            raise InputError("config", "unsupported_model", "config_switch", key=key, value=value)


def _head_size(read: _Config, hidden: int, heads: int) -> int:
    # GPT-2 splits its hidden size evenly, whatever else the config says.
    if read.has("head_dim") and read.config["model_type"] != "gpt2":
        return read.count("head_dim")
    size, rest = divmod(hidden, heads)
    if rest:
        raise InputError("config", "inconsistent", "config_head_size", hidden=hidden, heads=heads)
    return size


def _fraction(config: Mapping[str, Any]) -> float:
    """The part of each head that rotary positions turn."""
    nested = config.get("rope_parameters") or config.get("rope_scaling") or {}
    sources = [config, nested if isinstance(nested, Mapping) else {}]
    for key in ("partial_rotary_factor", "rotary_pct"):
        for source in sources:
            value = source.get(key)
            if value is not None:
                try:
                    part = float(value)
                except (TypeError, ValueError, OverflowError) as error:
                    raise InputError("config", "wrong_type", "config_part", key=key, value=value) from error
                if not 0 < part <= 1:
                    raise InputError("config", "too_large" if part > 1 else "not_positive", "config_part", key=key, value=value)
                return part
    return 0.25 if config.get("model_type") == "gpt_neox" else 1.0


def _sliding(read: _Config, model_type: str, layers: int) -> tuple[bool, ...]:
    """Which layers attend to a window only."""
    types = read.config.get("layer_types")
    if isinstance(types, list) and len(types) == layers:
        return tuple(kind == "sliding_attention" for kind in types)
    if model_type in ("qwen2", "qwen3"):
        first = read.count("max_window_layers", 28, least=0)
        return tuple(index >= first for index in range(layers))
    if model_type == "gemma2":
        return tuple(index % 2 == 0 for index in range(layers))
    if model_type == "gemma3_text":
        pattern = read.count("sliding_window_pattern", 6)
        return tuple((index + 1) % pattern != 0 for index in range(layers))
    return (model_type in ("mistral", "mixtral", "phi3", "qwen3_moe"),) * layers


def _activation(config: Mapping[str, Any], model_type: str) -> str:
    default = {"gpt2": "gelu_new", "gpt_neox": "gelu", "bert": "gelu", "vit": "gelu"}.get(model_type, "silu")
    default = "gelu" if model_type.startswith("gemma") else default
    name = next((config[k] for k in ("hidden_activation", "hidden_act", "activation_function") if config.get(k)), default)
    if model_type.startswith("gemma"):
        return "gelu"
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise InputError("config", "unsupported_model", "config_activation", value=name, known=", ".join(ACTIVATIONS))
    return ACTIVATIONS[name]


def _labels(config: Mapping[str, Any]) -> int:
    labels = config.get("id2label")
    return len(labels) if isinstance(labels, Mapping) and labels else 2
