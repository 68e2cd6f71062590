"""Which model of the catalogue, or which configuration, a published row means."""

from __future__ import annotations

from typing import Any

from gradaccum.catalogue import models

CATALOGUE = {
    "bert-large-uncased": "bert-large-uncased",
    "Llama-2-7B": "llama-2-7b",
    "Llama-3-8B": "llama-3-8b",
    "Llama-3.1-8B": "llama-3.1-8b",
    "Llama-3.1-70B": "llama-3.1-70b",
    "Llama-3.1-405B": "llama-3.1-405b",
    "Llama-3.2-3B": "llama-3.2-3b",
    "Mistral-7B-v0.1": "mistral-7b-v0.1",
    "zephyr-7B (Mistral)": "mistral-7b-v0.1",
    "SmolLM2-135M": "smollm2-135m",
    "Qwen2.5-0.5B": "qwen2.5-0.5b",
    "Yi-6B": "yi-6b",
}


def _sizes(model_type: str, **sizes: int) -> dict[str, Any]:
    return {"model_type": model_type, "tie_word_embeddings": False} | sizes


def _qwen(hidden: int, layers: int, heads: int, mlp: int, vocabulary: int) -> dict[str, Any]:
    return _sizes(
        "qwen2",
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        intermediate_size=mlp,
        vocab_size=vocabulary,
    )


STAND_INS = {
    # Llama itself, with sizes that are not in the catalogue; the number of parameters agrees with the published one.
    "Yi-34B": _sizes(
        "llama",
        hidden_size=7168,
        num_hidden_layers=60,
        num_attention_heads=56,
        num_key_value_heads=8,
        intermediate_size=20480,
        vocab_size=64000,
    ),
    # The first Qwen: packed projections, otherwise the layer of Qwen2. config.json calls 2 f its intermediate size.
    "Qwen-1.8B": _qwen(2048, 24, 16, 5504, 151936),
    "Qwen-7B": _qwen(4096, 32, 32, 11008, 151936),
    "Qwen-14B": _qwen(5120, 40, 40, 13696, 152064),
    "Qwen-72B": _qwen(8192, 80, 64, 24576, 152064),
    # Packed projections and a normalised head; its 13B sibling adds biases to the scores and has no like here.
    "Baichuan2-7B": _sizes(
        "llama",
        hidden_size=4096,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=32,
        intermediate_size=11008,
        vocab_size=125696,
    ),
    # Packed projections with biases, two groups of keys and values.
    "chatglm3-6B": _sizes(
        "qwen2",
        hidden_size=4096,
        num_hidden_layers=28,
        num_attention_heads=32,
        num_key_value_heads=2,
        intermediate_size=13696,
        vocab_size=65024,
    ),
}
"""Models of families the package lacks whose layer keeps nearly what another family's does: that one, with their sizes."""


def config_of(inputs: dict[str, Any]) -> dict[str, Any]:
    """The configuration that a request names: its own, or the catalogue's."""
    config: dict[str, Any] = inputs["config"] if "config" in inputs else models()[inputs["model"]]["config"]
    return config
