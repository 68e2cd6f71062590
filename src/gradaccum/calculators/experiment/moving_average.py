"""Experiment ``moving_average``: an average of the weights that moves on every micro-step."""

from __future__ import annotations

from fractions import Fraction

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count, number
from gradaccum.drawing import Drawing, Series
from gradaccum.experiments import moving_average
from gradaccum.experiments.vectors import power

POINTS = 32


def _answer(values: Values) -> Answer:
    decay, a = values["decay"], values["accumulation_steps"]
    window = moving_average.decay_per_update(decay, a)
    right, wrong = moving_average.half_life(decay), moving_average.half_life(decay) / a
    outputs = {
        "right_half_life": right,
        "wrong_half_life": wrong,
        "right_decay_per_update": decay,
        "wrong_decay_per_update": window,
        "matching_decay": moving_average.decay_per_micro_step(decay, a),
    }
    d, n = tex.number(decay), tex.count(a)
    steps = [
        Step(rf"\frac{{\ln 0.5}}{{\ln {d}}} {tex.equals_number(right)}", "average_right"),
        Step(rf"{d}^{{{n}}} {tex.equals_number(window)}", "average_window"),
        Step(rf"\frac{{1}}{{{n}}} \cdot \frac{{\ln 0.5}}{{\ln {d}}} {tex.equals_number(wrong)}", "average_wrong"),
    ]
    marks = [2 * right * k / POINTS for k in range(POINTS + 1)]
    curves = [
        Series("average_per_update", "right", [(u, power(decay, u)) for u in marks]),
        Series("average_per_micro_step", "wrong", [(u, power(decay, u * a)) for u in marks]),
    ]
    shown: dict[str, Fraction] = {"right": right, "wrong": wrong}
    return Answer(outputs, steps, drawing=Drawing("curves", curves, shown, limit=Fraction(1, 2)))


CALCULATOR = Calculator(
    name="experiment",
    topic="moving_average",
    fields=(
        number("decay", "0.999", ("0.01", "0.9999999"), "d"),
        count("accumulation_steps", 8, 1024, "a"),
    ),
    outputs=(
        Output("right_half_life", "number", primary=True),
        Output("wrong_half_life", "number", primary=True),
        Output("right_decay_per_update", "number"),
        Output("wrong_decay_per_update", "number"),
        Output("matching_decay", "number"),
    ),
    answer=_answer,
)
