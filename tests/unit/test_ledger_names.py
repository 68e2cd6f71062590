"""A reader looks for the ledger's operations and slots in PyTorch, so they bear its names: derivatives.yaml, release 2.13."""

import itertools

import pytest

from gradaccum.activations import trace
from gradaccum.architecture import architecture
from gradaccum.catalogue import models
from gradaccum.families import FAMILIES
from gradaccum.setting import Setting

# FusedLinearCrossEntropy is a kernel of Liger, GroupedMm's offsets are those of its experts.
SLOTS = {
    "Addmm": {"self"},
    "Baddbmm": {"batch1", "batch2"},
    "Bmm": {"self", "mat2"},
    "Convolution": {"input"},
    "Div": {"self", "other"},
    "Embedding": {"indices"},
    "FusedLinearCrossEntropy": {"grad_input", "grad_weight"},
    "Gelu": {"self"},
    "GroupedMm": {"self", "mat2", "offs"},
    "Index": {"indices"},
    "LogSoftmax": {"result"},
    "Mm": {"self", "mat2"},
    "Mul": {"self", "other"},
    "NativeLayerNorm": {"input", "weight", "bias", "result1", "result2"},
    "NllLoss": {"self", "target", "total_weight"},
    "Pow": {"self"},
    "Rsqrt": {"result"},
    "ScaledDotProductEfficientAttention": {"query", "key", "value", "attn_bias", "output", "logsumexp", "philox_seed", "philox_offset"},
    "ScaledDotProductFlashAttention": {"query", "key", "value", "output", "logsumexp", "rng_state", "unused"},
    "Silu": {"self"},
    "Softmax": {"result"},
    "Tanh": {"result"},
}  # fmt: skip
SETTINGS = [
    Setting(attention=attention, precision=precision, loss=loss, method=method, padded=padded)
    for (attention, loss), precision, (method, padded) in itertools.product(
        [("sdpa", "standard"), ("flash", "fused"), ("eager", "standard")],
        ["bf16", "fp32", "bf16-autocast"],
        [("full", True), ("full", False), ("lora", False)],
    )
]
CONFIGS = {model["config"]["model_type"]: model["config"] for model in models().values()}


def ledgers():
    for config in CONFIGS.values():
        for setting in SETTINGS:
            if config["model_type"] != "vit" or (setting.loss == "standard" and not setting.padded):
                yield trace(architecture(config, tuple(FAMILIES)), setting, 2, 16).ledger


@pytest.fixture(scope="module")
def lines():
    return [kept.entry for ledger in ledgers() for kept in ledger]


def test_operations_and_slots_are_pytorchs(lines):
    found: dict[str, set[str]] = {}
    for entry in lines:
        found.setdefault(entry.operation, set()).add(entry.slot)
    assert found == SLOTS
