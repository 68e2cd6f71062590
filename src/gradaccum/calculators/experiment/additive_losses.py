"""Experiment ``additive_losses``: Dice, root mean square and load balance, over the window and micro-batch by micro-batch."""

from __future__ import annotations

from fractions import Fraction

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Output, Step, Values
from gradaccum.calculators.experiment.inputs import check_rectangle, table
from gradaccum.drawing import Drawing, bar
from gradaccum.errors import InputError
from gradaccum.experiments import additive_losses

TABLES = {"dice": "overlaps", "rmse": "residuals", "load_balance": "routed"}


def _check_overlaps(values: Values) -> None:
    """Three numbers a micro-batch; the overlap is part of both sets, and a score needs something in one of them."""
    check_rectangle(values, "overlaps", width=3)
    for overlap, predicted, target in values["overlaps"]:
        if overlap > min(predicted, target) or not predicted + target:
            raise InputError("overlaps", "wrong_type", "overlap", value=values["overlaps"])


def _check_routed(values: Values) -> None:
    """Every micro-batch routes something."""
    check_rectangle(values, "routed")
    if not all(sum(row) for row in values["routed"]):
        raise InputError("routed", "not_positive", "routed", value=values["routed"])


def _answer(values: Values) -> Answer:
    outputs: dict[str, Fraction] = {}
    steps, bars = [], []
    for score, name in TABLES.items():
        right, wrong = additive_losses.over_window_and_mean(values[name], score)
        outputs |= {f"right_{score}": right, f"wrong_{score}": wrong}
        numbers = rf"s {tex.equals_number(right)}, \quad \bar{{s}} {tex.equals_number(wrong)}"
        steps.append(Step(numbers, f"additive_{score}"))
        bars += [bar(f"{score}_window", "right", right), bar(f"{score}_mean", "wrong", wrong)]
    shown = {"right": outputs["right_dice"], "wrong": outputs["wrong_dice"]}
    return Answer(outputs, steps, drawing=Drawing("bars", bars, shown))


CALCULATOR = Calculator(
    name="experiment",
    topic="additive_losses",
    fields=(
        table("overlaps", "4 4 4; 0 1 1", negative=False),
        table("residuals", "1; 3"),
        table("routed", "4 0; 0 4", negative=False),
    ),
    outputs=(
        Output("right_dice", "number", primary=True),
        Output("wrong_dice", "number", primary=True),
        Output("right_rmse", "number"),
        Output("wrong_rmse", "number"),
        Output("right_load_balance", "number"),
        Output("wrong_load_balance", "number"),
    ),
    answer=_answer,
    checks=(
        Check(("overlaps",), _check_overlaps),
        Check(("residuals",), lambda values: check_rectangle(values, "residuals")),
        Check(("routed",), _check_routed),
    ),
)
