"""Experiment ``weight_decay``: decoupled decay once an update, or once a micro-step."""

from __future__ import annotations

from fractions import Fraction

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count, number
from gradaccum.drawing import Drawing, Series
from gradaccum.errors import InputError
from gradaccum.experiments import weight_decay

POINTS = 32
MOST = 1_000_000


def _check_window(values: Values) -> None:
    """The run holds one window at least."""
    if values["accumulation_steps"] > values["micro_batches"]:
        raise InputError("accumulation_steps", "too_large", "one_window", value=values["accumulation_steps"])


def _answer(values: Values) -> Answer:
    rate, decay, m, a = (values[n] for n in ("learning_rate", "weight_decay", "micro_batches", "accumulation_steps"))
    updates = m // a
    right, wrong = (weight_decay.shrinkage(rate, decay, n) for n in (updates, m))
    outputs = {"right_shrinkage": right, "wrong_shrinkage": wrong, "right_updates": updates, "wrong_updates": m}
    base = rf"(1 - {tex.number(rate)} \cdot {tex.number(decay)})"
    steps = [
        Step(rf"{base}^{{{tex.count(updates)}}} {tex.equals_number(right)}", "decay_right"),
        Step(rf"{base}^{{{tex.count(m)}}} {tex.equals_number(wrong)}", "decay_wrong"),
    ]
    marks = sorted({round(Fraction(m * k, POINTS)) for k in range(POINTS + 1)})
    curves = [
        Series("decay_per_update", "right", [(n, weight_decay.shrinkage(rate, decay, n // a)) for n in marks]),
        Series("decay_per_micro_step", "wrong", [(n, weight_decay.shrinkage(rate, decay, n)) for n in marks]),
    ]
    return Answer(outputs, steps, drawing=Drawing("curves", curves, {"right": right, "wrong": wrong}))


CALCULATOR = Calculator(
    name="experiment",
    topic="weight_decay",
    fields=(
        number("learning_rate", "0.001", ("0.000001", "0.9"), r"\eta"),
        number("weight_decay", "0.1", ("0", "1"), r"\lambda", zero=True),
        count("micro_batches", 8000, MOST),
        count("accumulation_steps", 8, 4096, "a"),
    ),
    outputs=(
        Output("right_shrinkage", "number", primary=True),
        Output("wrong_shrinkage", "number", primary=True),
        Output("right_updates", "count"),
        Output("wrong_updates", "count"),
    ),
    answer=_answer,
    checks=(Check(("micro_batches", "accumulation_steps"), _check_window),),
)
