"""A reader looks for the ledger's operations and slots in PyTorch, so they bear its names: derivatives.yaml, release 2.13."""

import itertools

import pytest

from gradaccum.activations import trace
from gradaccum.architecture import architecture
from gradaccum.catalogue import models
from gradaccum.families import FAMILIES
from gradaccum.graph import BYTES
from gradaccum.setting import Setting
from gradaccum.tape import Tape

# FusedLinearCrossEntropy is a kernel of Liger, GroupedMm's offsets are those of its experts.
SLOTS = {
    "Addmm": {"mat1"},
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
    "ScaledDotProductEfficientAttention": {"query", "key", "value", "attn_bias", "output", "log_sumexp", "philox_seed", "philox_offset"},
    "ScaledDotProductFlashAttention": {"query", "key", "value", "output", "logsumexp", "rng_state", "unused"},
    "Silu": {"self"},
    "SafeSoftmax": {"result"},
    "Softmax": {"result"},
    "Tanh": {"result"},
    "Topk": {"indices"},
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


# Further ones that keep nothing. Each is the name of a backward step of PyTorch 2.13, without "Backward0".
NAMES = set(SLOTS) | {"Add", "Cat", "Clone", "ConstantPadNd", "Expand", "Mean", "Neg", "Select", "Slice", "Split", "Sum"}
NAMES |= {"ToCopy", "Transpose", "UnsafeView", "Unsqueeze", "View"}
ROTARY = {"Neg", "Unsqueeze", "Slice", "Cat"}
EXPERTS = {"GroupedMm", "Baddbmm", "Index", "Topk", "Sum"}


def written(model_type, **changed):
    """What a model keeps under each setting, and the names of all its operations."""
    names = set()
    record = Tape.record

    def note(tape, name, output, inputs, *rest):
        names.add(name)
        for tensor in (output, *inputs):
            # Every tensor lies in the memory it looks at; that of weights is counted apart.
            assert len(tensor.strides) == len(tensor.shape)
            reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True))
            assert tensor.storage.meter is None or reach * BYTES[tensor.dtype] < tensor.storage.size
        return record(tape, name, output, inputs, *rest)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Tape, "record", note)
        read = architecture(CONFIGS[model_type] | changed, tuple(FAMILIES))
        settings = [s for s in SETTINGS if model_type != "vit" or (s.loss == "standard" and not s.padded)]
        kept = [line.entry for setting in settings for line in trace(read, setting, 2, 16).ledger]
    return kept, names


@pytest.fixture(scope="module")
def lines():
    return [entry for model_type in CONFIGS for entry in written(model_type)[0]]


def test_operations_and_slots_are_pytorchs(lines):
    found: dict[str, set[str]] = {}
    for entry in lines:
        found.setdefault(entry.operation, set()).add(entry.slot)
    assert found == SLOTS


@pytest.mark.parametrize("model_type", CONFIGS)
def test_every_step_of_a_family_bears_a_name_of_pytorchs(model_type):
    kept, names = written(model_type)
    assert names <= NAMES
    assert all(entry.slot in SLOTS[entry.operation] for entry in kept)
    # What each architecture is known by.
    assert (names >= ROTARY) is (model_type not in {"gpt2", "bert", "vit"})
    assert (names >= EXPERTS) is (model_type in {"mixtral", "qwen3_moe"})
    assert ("Div" in names) is (model_type in {"mixtral", "qwen3_moe", "granite"})
    assert ("NativeLayerNorm" in names) is (model_type in {"gpt2", "gpt_neox", "bert", "vit"})
    assert ("Rsqrt" in names) is ("NativeLayerNorm" not in names)
    assert ("Convolution" in names) is (model_type == "vit")
    assert ("Tanh" in names) is (model_type in {"gpt2", "gemma2", "bert"})
    assert ("Select" in names) is (model_type in {"bert", "vit"})


def test_heads_of_odd_sizes_are_widened_by_a_step_of_pytorchs():
    _, names = written("llama", head_dim=12)
    assert "ConstantPadNd" in names <= NAMES
