"""Calculator ``training_memory``: the whole budget of a training step, phase by phase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradaccum import adapters, comparison, figures, ledger, models, peaks, peft_text, storage, tex, training
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.calculators.lora import MODEL_FIELDS, check_targets, model_notes
from gradaccum.catalogue import gpu_memory, gpus
from gradaccum.errors import InputError
from gradaccum.setting import Setting

PRECISIONS = ("bf16", "fp32", "bf16-mixed", "fp16-mixed", "bf16-autocast")
ATTENTIONS = ("sdpa", "flash", "eager")

FIELDS = (
    *MODEL_FIELDS,
    Field("sequence_length", "count", "s", required=True, example="4096"),
    Field("micro_batch", "count", "b", required=True, example="1"),
    Field("accumulation_steps", "count", "a", default=1, example="8"),
    Field("replicas", "count", "g", default=1, example="1"),
    Field("precision", "choice", default="bf16", example="bf16", choices=PRECISIONS),
    Field("method", "choice", default="full", example="full", choices=("full", "lora", "qlora")),
    Field("checkpointing", "choice", default="none", example="full", choices=("none", "full")),
    Field("gpu", "choice", choices=tuple(gpus()), example="H100 80GB"),
    Field("optimizer", "choice", default="adamw", example="adamw", choices=storage.OPTIMIZERS, group="more"),
    Field("attention", "choice", default="sdpa", example="sdpa", choices=ATTENTIONS, group="more"),
    Field("loss", "choice", default="standard", example="standard", choices=("standard", "fused"), group="more"),
    Field("sharding", "choice", default="none", example="none", choices=training.SHARDING, group="more"),
    Field("rank", "count", "r", default=16, group="more"),
    Field("targets", "names", default="all-linear", choices=("all-linear", "attention"), group="more"),
    Field("adapter_dtype", "choice", default="fp32", example="fp32", choices=("fp32", "bf16", "fp16"), group="more"),
    Field("memory_budget", "size", budget=True, group="more"),
    Field("compare", "flag", default=False, example="true", group="more"),
    Field("foreach", "flag", default=True, example="true", group="more"),
    Field("padded", "flag", default=False, group="more"),
    Field("defer_reduction", "flag", default=False, group="more"),
    Field("zero_grad_to_none", "flag", default=True, example="true", group="more"),
)


def planned(values: Values) -> training.Plan:
    """The run that a request describes."""
    architecture = models.chosen(values)
    setting = Setting(
        precision=values["precision"],
        attention=models.kernel(architecture, values["attention"]),
        padded=values["padded"],
        checkpointing=values["checkpointing"],
        loss=values["loss"],
        method=values["method"],
        rank=values["rank"],
        targets=adapters.target_names(architecture, values["targets"]),
        adapter_dtype=values["adapter_dtype"],
    )
    names = ("micro_batch", "sequence_length", "accumulation_steps", "replicas", "optimizer", "foreach", "sharding")
    switches = {name: values[name] for name in (*names, "defer_reduction", "zero_grad_to_none")}
    return training.Plan(architecture, setting, **switches)


def _check_targets(values: Values) -> None:
    if values["method"] != "full" or values["compare"]:
        check_targets(values)


def check_attention(values: Values) -> None:
    """Flash kernels know half precision only."""
    if values["attention"] == "flash" and values["precision"] == "fp32":
        raise InputError("attention", "unknown_value", "flash_in_fp32")


def available(values: Values) -> int | None:
    """The budget to fit into, in bytes; a size goes before a device."""
    if "memory_budget" in values:
        budget: int = values["memory_budget"]
        return budget
    return gpu_memory(values["gpu"]) if "gpu" in values else None


def peak_step(phase: str, peak: int, parts: Mapping[str, int]) -> Step:
    """The peak of a phase as the sum of what it is made of."""
    terms = " + ".join(tex.near_size(size, "binary") for size in parts.values() if size)
    return Step(rf"{terms} {tex.equals_size(peak, 'binary')}", f"peak_{phase}")


def adapter_files(values: Values, plan: training.Plan) -> list[dict[str, str]]:
    """The PEFT configuration of a run with adapters."""
    setting = plan.setting
    return peft_text.files(
        plan.architecture,
        rank=setting.rank,
        targets=setting.targets,
        dtype=setting.adapter_dtype,
        quantized=models.hub_name(values) if setting.method == "qlora" else None,
    )


def _answer(values: Values) -> Answer:
    plan = planned(values)
    found = training.budget(plan)
    top = found.peak_phase
    outputs: dict[str, Any] = {
        "peak": top.peak,
        "peak_phase": top.name,
        "parameters": found.parameters,
        "trainable_parameters": found.trainable,
        "weights": found.weights,
        "gradients": found.gradients,
        "optimizer_states": found.optimizer_states,
        "activation_per_sample": training.activation_per_sample(plan),
        "activations": found.activations,
        "phases": [{"phase": phase.name, "peak": phase.peak, "parts": phase.parts} for phase in found.phases],
        "ledger": ledger.rows(plan, found),
    }
    steps = [peak_step(top.name, top.peak, top.parts)]
    notes = model_notes(values)
    if plan.setting.attention != values["attention"]:
        notes.append(Note("softcap_runs_eager"))
    memory = available(values)
    if memory is not None:
        outputs["fits"] = top.peak <= memory
        outputs["headroom"] = memory - top.peak
        outputs["largest_micro_batch"] = peaks.largest_micro_batch(plan, memory)
        named = {
            "capacity": figures.format_size(memory, "binary"),
            "lack": figures.format_size(max(0, top.peak - memory), "binary"),
        }
        if not outputs["fits"]:
            notes.append(
                Note("accumulation_cannot_help" if not outputs["largest_micro_batch"] else "smaller_micro_batch_fits", named)
            )
    if plan.accumulation_steps > 1 and plan.zero_grad_to_none:
        notes.append(Note("one_gradient_buffer", {"buffer": figures.format_size(found.gradients, "binary")}))
    if values["compare"]:
        outputs["methods"] = comparison.methods(plan)
    if values["method"] != "full":
        outputs["peft"] = adapter_files(values, plan)
    notes.append(Note("traced_not_measured"))
    return Answer(outputs, steps, notes, system="binary")


CALCULATOR = Calculator(
    name="training_memory",
    fields=FIELDS,
    outputs=(
        Output("peak", "size", primary=True),
        Output("peak_phase", "phase", primary=True),
        Output("fits", "flag", primary=True),
        Output("headroom", "difference"),
        Output("largest_micro_batch", "count"),
        Output("parameters", "count"),
        Output("trainable_parameters", "count"),
        Output("weights", "size", "W"),
        Output("gradients", "size", "G"),
        Output("optimizer_states", "size", "S"),
        Output("activation_per_sample", "size", "A"),
        Output("activations", "size"),
        Output("methods", "rows", columns=comparison.COLUMNS),
        Output("peft", "files"),
        Output("phases", "rows"),
        Output("ledger", "rows", columns=("module", "kept", "bytes", "formula", "reason")),
    ),
    answer=_answer,
    checks=(
        Check(("model", "config"), models.check),
        Check(("model", "config", "method", "targets", "compare"), _check_targets),
        Check(("attention", "precision"), check_attention),
    ),
    pictures=("budget", "phases"),
)
