"""Calculator ``experiment``: a pitfall, run. Each experiment is a variant with fields and outputs of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from gradaccum.calculators.declaration import Answer, Calculator, Field, Output, Values
from gradaccum.calculators.experiment import (
    additive_losses,
    batch_norm,
    clipping,
    contrastive,
    gradient_precision,
    last_window,
    loss_scaler,
    loss_scaling,
    moving_average,
    rank_averaging,
    reduction_cost,
    schedule_units,
    small_batch,
    summed_losses,
    token_normalisation,
    weight_decay,
)

MODULES = (
    loss_scaling,
    token_normalisation,
    rank_averaging,
    batch_norm,
    last_window,
    clipping,
    gradient_precision,
    loss_scaler,
    schedule_units,
    contrastive,
    additive_losses,
    weight_decay,
    moving_average,
    summed_losses,
    reduction_cost,
    small_batch,
)
EXPERIMENTS = {module.CALCULATOR.topic: module.CALCULATOR for module in MODULES}
NAME = Field("name", "choice", required=True, choices=("list", *EXPERIMENTS))


def _list(_: Values) -> Answer:
    rows = [
        {
            "experiment": name,
            "inputs": [field.name for field in experiment.fields],
            "outputs": [output.name for output in experiment.outputs],
        }
        for name, experiment in EXPERIMENTS.items()
    ]
    return Answer({"experiments": rows})


Declared = TypeVar("Declared", Field, Output)


def _first(declared: Iterable[Declared]) -> tuple[Declared, ...]:
    """Of entries with one name the first."""
    found: dict[str, Declared] = {}
    for entry in declared:
        found.setdefault(entry.name, entry)
    return tuple(found.values())


LIST = Calculator("experiment", (NAME,), (Output("experiments", "rows", primary=True),), _list, topic="list")
VARIANTS = {"list": LIST} | {
    name: replace(one, fields=(replace(NAME, example=name), *one.fields)) for name, one in EXPERIMENTS.items()
}
CALCULATOR = Calculator(
    name="experiment",
    fields=_first(chain.from_iterable(one.fields for one in VARIANTS.values())),
    outputs=_first(chain.from_iterable(one.outputs for one in VARIANTS.values())),
    answer=_list,
    variants=VARIANTS,
)
