"""Switches of a model before it runs: adapters, attention, checkpointing."""

import warnings
from typing import Any

from torch import nn

from gradaccum.errors import InputError

from .session import Session

LANGUAGE_MODEL = ("CausalLM", "LMHeadModel")


def prepared(model: nn.Module, session: Session, request: dict[str, Any]) -> nn.Module:
    """The model in training mode with its switches set and, if a rank or targets are given, with adapters in fp32."""
    whole = _adapted(model, session, request) if "rank" in request or "targets" in request else model
    if "attention" in request:
        if not hasattr(model, "set_attn_implementation"):
            raise InputError("attention", "unknown_value", "not_switched", value=request["attention"])
        from .attention import IMPLEMENTATIONS  # noqa: PLC0415 - a model with such a switch comes from Transformers

        model.set_attn_implementation(IMPLEMENTATIONS[request["attention"]])
    if request.get("checkpointing") == "full":
        enable = getattr(model, "activation_checkpointing_enable", getattr(model, "gradient_checkpointing_enable", None))
        if enable is None:
            raise InputError("checkpointing", "unknown_value", "not_switched", value="full")
        enable()
    return whole.train()


def _adapted(model: nn.Module, session: Session, request: dict[str, Any]) -> nn.Module:
    try:
        from peft import LoraConfig, get_peft_model  # noqa: PLC0415 - only adapters need it
    except ModuleNotFoundError as error:
        raise InputError("rank", "missing", "package", value="peft") from error
    targets = request.get("targets", "all-linear")
    names = attention_layers(model) if targets == "attention" else targets
    options: dict[str, Any] = {"r": request.get("rank", 16), "target_modules": names}
    if type(model).__name__.endswith(LANGUAGE_MODEL):
        options["task_type"] = "CAUSAL_LM"
    elif targets == "all-linear" and hasattr(model, "classifier"):
        # peft leaves out a language model's head by itself.
        options["exclude_modules"] = ".*classifier"
    with session.making(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            adapted: nn.Module = get_peft_model(model, LoraConfig(**options))
        except ValueError as error:
            raise InputError("targets", "unknown_value", "adapters", value=targets, reason=str(error)) from error
    return adapted


def attention_layers(model: nn.Module) -> list[str]:
    """Names of the linear layers inside attention. Errors: ``InputError`` where there is none."""
    linear = {name for name, one in model.named_modules() if isinstance(one, nn.Linear) or type(one).__name__ == "Conv1D"}
    inside = {name.rpartition(".")[2] for name in linear if "att" in name}
    if not inside:
        raise InputError("targets", "unknown_value", "adapters", value="attention", reason="")
    return sorted(inside)
