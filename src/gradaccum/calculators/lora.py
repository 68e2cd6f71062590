"""Calculator ``lora``: trainable parameters of low-rank adapters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gradaccum import adapters, models, tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.catalogue import models as catalogue_models
from gradaccum.graph import BYTES

ADAPTER_DTYPES = ("fp32", "bf16", "fp16")
MODEL_FIELDS = (
    Field("model", "choice", choices=tuple(catalogue_models()), example="llama-3-8b"),
    Field("config", "object"),
)


def check_targets(values: Values) -> None:
    """The chosen model must have the layers that are to be adapted."""
    architecture = models.chosen(values)
    adapters.check_targets(architecture, adapters.target_names(architecture, values["targets"]))


def model_notes(values: Values) -> list[Note]:
    """Which of two models was used, when a request names both."""
    return [Note("config_over_model")] if {"model", "config"} <= values.given else []


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
    return Answer(outputs, steps, notes, system="binary")


CALCULATOR = Calculator(
    name="lora",
    fields=(
        *MODEL_FIELDS,
        Field("rank", "count", "r", required=True, example="16"),
        Field("targets", "names", default="all-linear", example="all-linear", choices=("all-linear", "attention")),
        Field("alpha", "number", r"\alpha", group="more"),
        Field("adapter_dtype", "choice", default="fp32", example="fp32", choices=ADAPTER_DTYPES, group="more"),
    ),
    outputs=(
        Output("trainable_parameters", "count", primary=True),
        Output("trainable_fraction", "percent", primary=True),
        Output("base_parameters", "count"),
        Output("adapter_bytes", "size"),
        Output("scaling", "number", r"\frac{\alpha}{r}"),
        Output("by_module", "rows"),
    ),
    answer=_answer,
    checks=(
        Check(("model", "config"), models.check),
        Check(("model", "config", "targets"), check_targets),
    ),
)
