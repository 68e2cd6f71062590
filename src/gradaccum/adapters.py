"""Low-rank adapters: which layers get one, and how many weights that trains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradaccum.activations import parameters_of
from gradaccum.architecture import Architecture
from gradaccum.errors import InputError
from gradaccum.graph import Counted, Parameter
from gradaccum.setting import Setting

ATTENTION = {
    "gpt2": ("attn.c_attn", "attn.c_proj"),
    "gpt_neox": ("attention.query_key_value", "attention.dense"),
    "phi3": ("self_attn.qkv_proj", "self_attn.o_proj"),
    "bert": ("self.query", "self.key", "self.value", "attention.output.dense"),
    "vit": ("attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.o_proj"),
}
LLAMA_ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")


def target_names(architecture: Architecture, targets: str | Sequence[str]) -> str | tuple[str, ...]:
    """Names of the layers to adapt; ``"all-linear"`` stays itself: every linear layer but the output head."""
    if targets == "attention":
        return ATTENTION.get(architecture.model_type, LLAMA_ATTENTION)
    return targets if isinstance(targets, str) else tuple(dict.fromkeys(targets))


def module_of(parameter: Parameter) -> str:
    """Name of the module that holds the weights: ``self_attn.q_proj`` of ``full:.self_attn.q_proj.lora_A``.

    >>> module_of(Parameter("full:.self_attn.q_proj.lora_A", (8, 2), "fp32", True))
    'self_attn.q_proj'
    """
    return parameter.name.partition(":.")[2].rpartition(".")[0] or parameter.name.rpartition(".")[0]


def adapted(architecture: Architecture, rank: int, targets: str | tuple[str, ...], dtype: str) -> Counted:
    """All parameters of the model with its adapters, each with the number of layers that have one like it.

    A layer of i inputs and o outputs gets r (i + o) weights; a name means every layer whose path ends in it, as in peft.
    Errors: ``unknown_value`` at ``targets`` for a name no linear layer has.
    Source: https://arxiv.org/abs/2106.09685, section 4.1.
    """
    check_targets(architecture, targets)
    return parameters_of(architecture, Setting(method="lora", rank=rank, targets=targets, adapter_dtype=dtype))


def check_targets(architecture: Architecture, targets: str | tuple[str, ...]) -> None:
    """Every name must be that of a linear layer. Errors: ``unknown_value`` at ``targets``."""
    if isinstance(targets, str):
        return
    every = parameters_of(architecture, Setting(method="lora", rank=1))
    paths = sorted({module_of(p) for p, _ in every if p.trainable})
    unknown = [name for name in targets if not any(f".{path}".endswith(f".{name}") for path in paths)]
    if unknown:
        known = ", ".join(dict.fromkeys(path.rpartition(".")[2] for path in paths))
        raise InputError("targets", "unknown_value", "known_names", value=", ".join(unknown), known=known)


def by_module(parameters: Counted) -> dict[str, int]:
    """Trainable weights by name of the adapted layer, over all layers."""
    counts: Counter[str] = Counter()
    for parameter, times in parameters:
        if parameter.trainable:
            counts[module_of(parameter)] += parameter.count * times
    return dict(counts)
