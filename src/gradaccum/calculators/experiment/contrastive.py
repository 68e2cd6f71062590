"""Experiment ``contrastive``: in-batch negatives under accumulation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Note, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count, number
from gradaccum.drawing import Drawing, bar
from gradaccum.errors import InputError
from gradaccum.experiments import contrastive, vectors

MOST_PAIRS = 16


def _check_pairs(values: Values) -> None:
    """Every pair is compared with every other, so the work grows with the square."""
    if values["micro_batch"] * values["accumulation_steps"] > MOST_PAIRS:
        raise InputError("accumulation_steps", "too_large", "pairs", value=values["accumulation_steps"], pairs=MOST_PAIRS)


def _answer(values: Values) -> Answer:
    b, a, temperature = values["micro_batch"], values["accumulation_steps"], values["temperature"]
    pairs = a * b
    right, slope = contrastive.whole_batch(pairs, temperature)
    wrong, wrong_slope = contrastive.accumulated(b, a, temperature, cached=False)
    _, cached_slope = contrastive.accumulated(b, a, temperature, cached=True)
    outputs: dict[str, Any] = {
        "right_chance_loss": vectors.ln(Fraction(pairs)),
        "wrong_chance_loss": vectors.ln(Fraction(b)),
        "right_loss": right,
        "wrong_loss": wrong,
        "right_negatives": pairs - 1,
        "wrong_negatives": b - 1,
    }
    if (error := vectors.relative_error(wrong_slope, slope)) is not None:
        outputs["gradient_error"] = error
        # Beyond 20 decimals only the last digit of the 40 that are carried would show.
        outputs["cached_gradient_error"] = round(vectors.relative_error(cached_slope, slope) or Fraction(0), 20)
    chance, micro = outputs["right_chance_loss"], outputs["wrong_chance_loss"]
    steps = [
        Step(rf"\ln(b \cdot a) = \ln {tex.count(pairs)} {tex.equals_number(chance)}", "contrastive_right"),
        Step(rf"\ln b = \ln {tex.count(b)} {tex.equals_number(micro)}", "contrastive_wrong"),
        Step(rf"{tex.count(b)} - 1 = {b - 1}, \quad {tex.count(pairs)} - 1 = {pairs - 1}", "contrastive_negatives"),
    ]
    bars = [
        bar("chance_whole_batch", "right", chance),
        bar("chance_micro_batch", "wrong", micro),
        bar("loss_whole_batch", "right", right),
        bar("loss_micro_batch", "wrong", wrong),
    ]
    notes = [Note("one_pair")] if b == 1 < a else []
    return Answer(outputs, steps, notes, drawing=Drawing("bars", bars, {"right": chance, "wrong": micro}))


CALCULATOR = Calculator(
    name="experiment",
    topic="contrastive",
    fields=(
        count("micro_batch", 2, MOST_PAIRS, "b"),
        count("accumulation_steps", 4, MOST_PAIRS, "a"),
        number("temperature", "0.1", ("0.01", "10"), "t"),
    ),
    outputs=(
        Output("right_chance_loss", "number", primary=True),
        Output("wrong_chance_loss", "number", primary=True),
        Output("right_loss", "number"),
        Output("wrong_loss", "number"),
        Output("right_negatives", "count"),
        Output("wrong_negatives", "count"),
        Output("gradient_error", "percent"),
        Output("cached_gradient_error", "percent"),
    ),
    answer=_answer,
    checks=(Check(("micro_batch", "accumulation_steps"), _check_pairs),),
)
