"""Calculator ``lora``: trainable parameters of low-rank adapters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gradaccum import adapters, comparison, models, peft_text, tex
from gradaccum.architecture import Architecture
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.catalogue import models as catalogue_models
from gradaccum.defaults import left_out
from gradaccum.families import FAMILIES
from gradaccum.graph import BYTES
from gradaccum.setting import Setting
from gradaccum.training import Plan

ADAPTER_DTYPES = ("fp32", "bf16", "fp16")
DIMENSIONS = (
    Field("model_type", "choice", choices=tuple(FAMILIES)),
    Field("hidden_size", "count", "h"),
    Field("num_hidden_layers", "count", "L"),
    Field("num_attention_heads", "count", "H"),
    Field("num_key_value_heads", "count", "K"),
    Field("head_dim", "count", "d"),
    Field("intermediate_size", "count", "f"),
    Field("vocab_size", "count", "V"),
    Field("tie_word_embeddings", "flag"),
)
MODEL_FIELDS = (
    Field("model", "choice", choices=tuple(catalogue_models()), example="llama-3-8b"),
    Field("config", "object", members=DIMENSIONS),
)


def check_targets(values: Values) -> None:
    """The chosen model must have the layers that are to be adapted."""
    architecture = models.chosen(values)
    adapters.check_targets(architecture, adapters.target_names(architecture, values["targets"]))


def model_notes(values: Values) -> list[Note]:
    """Which of two models was used when a request names both, and what was taken for sizes its config leaves out."""
    notes = [Note("config_over_model")] if {"model", "config"} <= values.given else []
    if taken := left_out(values["config"]) if "config" in values else {}:
        sizes = ", ".join(f"{name} = {size}" for name, size in taken.items())
        notes.append(Note("config_defaults", {"family": values["config"]["model_type"], "sizes": sizes}))
    return notes


def _answer(values: Values) -> Answer:
    architecture = models.chosen(values)
    targets = adapters.target_names(architecture, values["targets"])
    parameters = adapters.adapted(architecture, values["rank"], targets, values["adapter_dtype"])
    trainable = sum(p.count * times for p, times in parameters if p.trainable)
    base = sum(p.count * times for p, times in parameters) - trainable
    size = trainable * BYTES[values["adapter_dtype"]]
    modules = adapters.by_module(parameters)
    fraction = Fraction(trainable, base + trainable)
    outputs: dict[str, Any] = {
        "base_parameters": base,
        "trainable_parameters": trainable,
        "trainable_fraction": fraction,
        "adapter_bytes": size,
        "peft": peft_text.files(
            architecture,
            rank=values["rank"],
            targets=targets,
            dtype=values["adapter_dtype"],
            alpha=values.get("alpha"),
        ),
        "by_module": [{"module": name, "parameters": count} for name, count in modules.items()],
    }
    rank, trained = tex.count(values["rank"]), tex.count(trainable)
    terms = " + ".join(tex.count(count) for count in modules.values())
    steps = [
        Step(rf"\sum r \cdot (i + o) = {terms} = {trained} \quad (r = {rank})", "adapters"),
        Step(rf"\frac{{{trained}}}{{{tex.count(base)} + {trained}}} {tex.equals_number(fraction)}", "trainable_fraction"),
    ]
    if "alpha" in values:
        outputs["scaling"] = values["alpha"] / values["rank"]
        steps.append(Step(rf"\frac{{\alpha}}{{r}} {tex.equals_number(outputs['scaling'])}", "scaling"))
    notes = model_notes(values)
    if "sequence_length" in values:
        outputs["methods"] = comparison.methods(_run(values, architecture, targets))
        notes.append(Note("methods_compared"))
    return Answer(outputs, steps, notes, system="binary")


def _run(values: Values, architecture: Architecture, targets: str | tuple[str, ...]) -> Plan:
    """The run whose memory is compared: bf16, AdamW, the kernel of sdpa."""
    setting = Setting(
        attention=models.kernel(architecture, "sdpa"),
        checkpointing=values["checkpointing"],
        rank=values["rank"],
        targets=targets,
        adapter_dtype=values["adapter_dtype"],
    )
    return Plan(architecture, setting, values["micro_batch"], values["sequence_length"])


CALCULATOR = Calculator(
    name="lora",
    fields=(
        *MODEL_FIELDS,
        Field("rank", "count", "r", required=True, example="16"),
        Field("targets", "names", default="all-linear", example="all-linear", choices=("all-linear", "attention")),
        Field("alpha", "number", r"\alpha", example="32"),
        Field("sequence_length", "count", "s", example="4096"),
        Field("micro_batch", "count", "b", default=1, example="1"),
        Field("checkpointing", "choice", default="none", example="full", choices=("none", "full")),
        Field("adapter_dtype", "choice", default="fp32", example="fp32", choices=ADAPTER_DTYPES, group="more"),
    ),
    outputs=(
        Output("trainable_parameters", "count", primary=True),
        Output("trainable_fraction", "percent", primary=True),
        Output("base_parameters", "count"),
        Output("adapter_bytes", "size"),
        Output("scaling", "number", r"\frac{\alpha}{r}"),
        Output("methods", "rows", columns=comparison.COLUMNS),
        Output("peft", "files"),
        Output("by_module", "rows"),
    ),
    answer=_answer,
    checks=(
        Check(("model", "config"), models.check),
        Check(("model", "config", "targets"), check_targets),
    ),
)
