"""What the package says of every published run, and how far that is from what was published."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import median
from typing import Any

from evidence.measured import KINDS, Row, rows
from evidence.requests import LOGITS_HELD, LOSS_HERE, LOSS_IN_PLACE, Request, Unanswered, request_of
from evidence.standins import config_of
from gradaccum.api import run


@dataclass(frozen=True)
class Prediction:
    """A row with the peak computed for it, in bytes, or with the reason why there is none.

    ``plain`` is the package's own answer, without what the run is known to do otherwise.
    """

    row: Row
    peak: int | None
    reason: str | None
    plain: int | None = None
    remarks: tuple[str, ...] = ()

    @property
    def error(self) -> Fraction | None:
        """Computed / published - 1."""
        return self._error(self.peak)

    @property
    def plain_error(self) -> Fraction | None:
        """The same of the package's own answer."""
        return self._error(self.plain)

    def _error(self, peak: int | None) -> Fraction | None:
        return None if peak is None or self.row.published is None else Fraction(peak, self.row.published) - 1


def answer(inputs: dict[str, Any]) -> dict[str, Any]:
    """Outputs of ``training_memory``; a request it refuses is a fault of the rules."""
    response = json.loads(run(json.dumps({"calculator": "training_memory", "inputs": inputs})))
    if not response["ok"]:
        raise ValueError(f"{inputs}: {response['errors']}")
    outputs: dict[str, Any] = response["outputs"]
    return outputs


def peak_of(request: Request) -> int:
    """The package's peak, with what the run is known to do otherwise.

    in place: the larger of the peak with a fused loss, which is that of the layers, and the peak with the standard loss less
    its surplus of b s V (12 - 8) bytes. held: b s V 2 bytes more. streamed: without the weights of all layers but two.
    """
    inputs = request.inputs
    outputs = answer(inputs)
    peak = int(outputs["peak"])
    logits = inputs["micro_batch"] * inputs["sequence_length"] * config_of(inputs).get("vocab_size", 0)
    if request.fused_step:
        phases = outputs["phases"]
        peak = max(
            phase["peak"] - (phase["parts"]["temporaries"] if phase["phase"] == "optimizer_step" else 0) for phase in phases
        )
    if request.in_place:
        layers = int(answer(inputs | {"loss": "fused"})["peak"])
        peak = max(layers, _before_the_step(outputs) - (LOSS_HERE - LOSS_IN_PLACE) * logits)
    if request.held:
        peak += LOGITS_HELD * logits
    if request.streamed:
        shallow = {name: value for name, value in inputs.items() if name != "model"}
        shallow["config"] = config_of(inputs) | {"num_hidden_layers": 2}
        full = {"method": "full"}
        peak -= int(answer(inputs | full)["weights"]) - int(answer(shallow | full)["weights"])
    return peak


def _before_the_step(outputs: dict[str, Any]) -> int:
    return max(int(phase["peak"]) for phase in outputs["phases"] if phase["phase"] != "optimizer_step")


@cache
def predictions() -> tuple[Prediction, ...]:
    """Every row of the table, computed or with its reason."""
    found = []
    for row in rows():
        try:
            request = request_of(row)
        except Unanswered as refused:
            found.append(Prediction(row, None, refused.reason))
        else:
            plain = answer(request.inputs)["peak"]
            found.append(Prediction(row, peak_of(request), None, plain, tuple(request.remarks)))
    return tuple(found)


@dataclass(frozen=True)
class Summary:
    """Of the predictions of one group: how many, the median error, and the error that nine in ten stay within."""

    count: int
    median: Fraction
    nine_in_ten: Fraction
    low: Fraction
    high: Fraction


GROUPS = ("allocated", "allocated_sharded", *(kind for kind in KINDS if kind != "allocated"))
"""Kinds of memory; that of the allocator apart for one device and for several."""


def group_of(row: Row) -> str:
    """Where a row stands in the tables."""
    return "allocated_sharded" if row.kind == "allocated" and row.gpus != "1" else row.kind


def in_group(group: str) -> list[Prediction]:
    """Computed and uncomputed rows of a group, in the order of the table."""
    return [prediction for prediction in predictions() if group_of(prediction.row) == group]


def summary(group: str, *, plain: bool = False) -> Summary | None:
    """Of one group, or None where no row of it could be computed; ``plain``: of the package's own answers."""
    found = [prediction.plain_error if plain else prediction.error for prediction in in_group(group)]
    errors = [error for error in found if error is not None]
    if not errors:
        return None
    sizes = sorted(map(abs, errors))
    # The smallest error that at least nine rows in ten do not exceed.
    return Summary(len(errors), median(sizes), sizes[-(-9 * len(sizes) // 10) - 1], min(errors), max(errors))
