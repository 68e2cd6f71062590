"""Experiment ``gradient_precision``: gradients added into a buffer of few bits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import Any

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Field, Note, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count, number
from gradaccum.drawing import Drawing, Series
from gradaccum.experiments import gradient_precision

POINTS = 32


def _answer(values: Values) -> Answer:
    a, dtype = values["accumulation_steps"], values["buffer_dtype"]
    unit, spread = float(values["gradient"]), float(values["spread"])
    gradients = [unit * (1 + spread * gradient_precision.noise(i)) for i in range(a)]
    exact = Fraction(math.fsum(gradients))
    buffer = gradient_precision.running(gradients, dtype)
    held = sum(map(math.isfinite, buffer))
    fp32 = Fraction(gradient_precision.running(gradients, "fp32")[-1])
    stuck = gradient_precision.stuck_at(unit, dtype)
    p = gradient_precision.FORMATS[dtype].bits
    outputs: dict[str, Any] = {
        "right_mean": fp32 / a,
        "right_sum": fp32,
        "exact_mean": exact / a,
        "stuck_at": stuck,
        "significant_bits": p,
    }
    steps = [
        Step(rf"2^{{{p}}} = {tex.count(2**p)}", "precision_bits"),
        Step(rf"\frac{{1}}{{{tex.count(a)}}} \cdot {tex.number(fp32)} {tex.equals_number(fp32 / a)}", "precision_right"),
    ]
    if held == a:
        wrong = Fraction(buffer[-1])
        outputs |= {"wrong_mean": wrong / a, "wrong_sum": wrong}
        outputs |= {"gradient_error": abs(wrong - exact) / abs(exact)} if exact else {}
        mean = rf"\frac{{1}}{{{tex.count(a)}}} \cdot {tex.number(wrong)} {tex.equals_number(wrong / a)}"
        steps.insert(1, Step(mean, "precision_wrong"))
    marks = sorted({round(a * k / POINTS) for k in range(1, POINTS + 1)} - {0})
    sums = list(accumulate(gradients))
    curves = [
        Series("exact_sum", "right", [(0, 0), *((k, sums[k - 1]) for k in marks)]),
        Series("buffer_sum", "wrong", [(0, 0), *((k, buffer[k - 1]) for k in marks if k <= held)], {"dtype": dtype}),
    ]
    notes = [Note("still_moving", {"dtype": dtype, "stuck": f"{stuck:,}"})] if a < stuck and not spread else []
    notes += [Note("buffer_overflows", {"dtype": dtype, "added": f"{held + 1:,}"})] if held < a else []
    shown = {"wrong": outputs.get("wrong_mean", "∞"), "right": outputs["right_mean"], "dtype": dtype, "steps": f"{a:,}"}
    return Answer(outputs, steps, notes, drawing=Drawing("curves", curves, shown))


CALCULATOR = Calculator(
    name="experiment",
    topic="gradient_precision",
    fields=(
        count("accumulation_steps", 4096, 4096, "a"),
        Field("buffer_dtype", "choice", default="bf16", example="bf16", choices=("bf16", "fp16")),
        number("gradient", "1", ("0.0001", "10000")),
        number("spread", "0", ("0", "10"), zero=True),
    ),
    outputs=(
        Output("right_mean", "number", primary=True),
        Output("wrong_mean", "number", primary=True),
        Output("right_sum", "number"),
        Output("wrong_sum", "number"),
        Output("exact_mean", "number"),
        Output("gradient_error", "percent"),
        Output("stuck_at", "count"),
        Output("significant_bits", "count", "p"),
    ),
    answer=_answer,
)
