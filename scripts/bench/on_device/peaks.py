"""Predicted and measured peaks, phase by phase, for configurations that take different roads through PyTorch."""

import contextlib
import warnings
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from .bench import Bench
from .models import llama, rows
from .predictions import prediction

Found = dict[str, Any]
STEPS = 2
# Weights' dtype and what autocast lowers to, by the calculator's names.
PRECISIONS = {
    "bf16": (torch.bfloat16, None),
    "fp32": (torch.float32, None),
    "bf16-mixed": (torch.float32, torch.bfloat16),
    "fp16-mixed": (torch.float32, torch.float16),
    "bf16-autocast": (torch.bfloat16, torch.bfloat16),
}
# Nodes of the graph that tell which kernel ran, the fused ones first: the softmax of an unfused one has a node of its own.
KERNELS = {
    "ScaledDotProductFlashAttention": "flash",
    "ScaledDotProductEfficientAttention": "efficient",
    "ScaledDotProductCudnnAttention": "cudnn",
    "SoftmaxBackward": "unfused",
}


@dataclass(frozen=True)
class Configuration:
    """One row: settings by the calculator's names, and what differs in the model."""

    name: str
    precision: str
    attention: str
    checkpointing: str = "none"
    method: str = "full"
    padded: bool = False
    model: dict[str, Any] = field(default_factory=dict)

    def inputs(self) -> dict[str, Any]:
        """What the calculator is asked."""
        names = ("precision", "attention", "checkpointing", "method", "padded")
        return {name: getattr(self, name) for name in names} | {"accumulation_steps": STEPS}


UNGROUPED = {"num_key_value_heads": 16}
CONFIGURATIONS = {
    "cpu": (
        Configuration("fp32", "fp32", "eager"),
        Configuration("fp32-checkpointing", "fp32", "eager", "full"),
        Configuration("bf16", "bf16", "eager"),
        Configuration("bf16-checkpointing", "bf16", "eager", "full"),
        Configuration("bf16-padded", "bf16", "eager", padded=True),
        Configuration("bf16-lora", "bf16", "eager", method="lora"),
    ),
    "cuda": (
        Configuration("bf16", "bf16", "sdpa"),
        Configuration("bf16-checkpointing", "bf16", "sdpa", "full"),
        Configuration("bf16-eager", "bf16", "eager"),
        Configuration("bf16-padded", "bf16", "sdpa", padded=True),
        Configuration("fp32-grouped-heads", "fp32", "sdpa"),
        Configuration("fp32-equal-heads", "fp32", "sdpa", model=UNGROUPED),
        Configuration("bf16-mixed", "bf16-mixed", "sdpa"),
        Configuration("bf16-mixed-checkpointing", "bf16-mixed", "sdpa", "full"),
        Configuration("fp16-mixed", "fp16-mixed", "sdpa"),
        Configuration("bf16-autocast", "bf16-autocast", "sdpa"),
        Configuration("bf16-lora", "bf16", "sdpa", method="lora"),
        Configuration("bf16-mixed-lora", "bf16-mixed", "sdpa", method="lora"),
    ),
}


def predicted_peaks(bench: Bench, found: Found) -> None:
    """Every configuration of this kind of device; one that does not fit leaves the others alone."""
    size = 4
    found |= {"micro_batch": size, "accumulation_steps": STEPS, "sequence_length": bench.length, "rows": []}
    for configuration in CONFIGURATIONS[bench.kind]:
        said = prediction(_config(bench, configuration), bench.length, size, **configuration.inputs())
        row: Found = {"name": configuration.name, "predicted": said["peak"], "predicted_phase": said["peak_phase"]}
        found["rows"].append(row)
        try:
            row |= _measured(bench, configuration, size, said["phases"])
        except torch.OutOfMemoryError as error:
            row["out_of_memory"] = str(error).partition(". ")[0]


def _config(bench: Bench, configuration: Configuration) -> dict[str, Any]:
    changes = dict(configuration.model)
    if bench.size == "cpu" and "num_key_value_heads" in changes:
        changes["num_key_value_heads"] = bench.config()["num_attention_heads"]
    return bench.config(**changes)


def _build(bench: Bench, configuration: Configuration) -> nn.Module:
    dtype, _ = PRECISIONS[configuration.precision]
    model = llama(_config(bench, configuration), bench.torch, dtype, configuration.attention)
    if configuration.method == "lora":
        from peft import LoraConfig, get_peft_model  # noqa: PLC0415 - only these rows need peft

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = get_peft_model(model, LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM"))
    if configuration.checkpointing == "full":
        model.activation_checkpointing_enable()
    return model


def _measured(bench: Bench, configuration: Configuration, size: int, said: list[Found]) -> Found:
    """The peak of every phase of the second update, and the kernel that attention took."""
    with bench.device.meter() as meter:
        model = _build(bench, configuration)
        trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        optimizer = torch.optim.AdamW(trained, lr=1e-4, foreach=True)
        phases: dict[str, int] = {}
        reserved = None
        for _ in range(2):
            optimizer.zero_grad()
            for step in range(STEPS):
                which = "first" if step == 0 else "later"
                meter.restart()
                loss = _loss(bench, configuration, model, size, step)
                phases[f"{which}_forward"] = meter.peak
                kernel = picked_kernel(loss) if configuration.checkpointing == "none" else None
                meter.restart()
                loss.backward()
                phases[f"{which}_backward"] = meter.peak
                del loss
            meter.restart()
            optimizer.step()
            phases["optimizer_step"] = meter.peak
            reserved = meter.reserved
        top = max(phases, key=lambda name: phases[name])
        rows_of = [{"phase": row["phase"], "predicted": row["peak"], "peak": phases[row["phase"]]} for row in said]
        return {"peak": phases[top], "phase": top, "reserved": reserved, "kernel": kernel, "phases": rows_of}


def _loss(bench: Bench, configuration: Configuration, model: nn.Module, size: int, step: int) -> torch.Tensor:
    batch = rows(bench.config(), bench.torch, size, bench.length, step)
    if configuration.padded:
        mask = torch.ones_like(batch["input_ids"])
        mask[0, bench.length // 2 :] = 0
        batch["attention_mask"] = mask
    _, low = PRECISIONS[configuration.precision]
    context = torch.autocast(bench.torch.type, low) if low is not None else contextlib.nullcontext()
    with context:
        return model(**batch).loss / STEPS


def picked_kernel(loss: torch.Tensor) -> str:
    """The attention kernel, from the names in the graph: a fused kernel leaves a node of its own."""
    todo, seen, names = [loss.grad_fn], set(), set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        names.add(node.name())
        todo += [above for above, _ in node.next_functions]
    found = (kernel for mark, kernel in KERNELS.items() if any(name.startswith(mark) for name in names))
    return next(found, "none")
