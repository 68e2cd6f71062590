"""Experiment ``loss_scaler``: the fp16 loss scale changed inside a window."""

from __future__ import annotations

from typing import Any

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count, number
from gradaccum.drawing import Drawing, bar
from gradaccum.errors import InputError
from gradaccum.experiments import loss_scaler


def _check_change(values: Values) -> None:
    """The scale changes inside the window, not after it."""
    if values["changed_after"] > values["accumulation_steps"]:
        raise InputError("changed_after", "too_large", "within_window", value=values["changed_after"])


def _answer(values: Values) -> Answer:
    a, k, f, g = (values[n] for n in ("accumulation_steps", "changed_after", "scale_factor", "gradient"))
    right, wrong = a * g, loss_scaler.summed_gradient(g, a, k, f)
    p = values["overflow_probability"]
    skipped = loss_scaler.window_skip_probability(p, a)
    outputs: dict[str, Any] = {
        "right_sum": right,
        "wrong_sum": wrong,
        "wrong_factor": wrong / right,
        "window_skip_probability": skipped,
        "scale_after_overflow": values["loss_scale"] * loss_scaler.BACKOFF,
    }
    n, early, factor, unit = tex.count(a), tex.count(k), tex.number(f), tex.number(g)
    steps = [
        Step(rf"\frac{{a \cdot g S}}{{S}} = {n} \cdot {unit} {tex.equals_number(right)}", "scaler_right"),
        Step(
            rf"\frac{{k\,g S + (a - k)\,g f S}}{{f S}} = \frac{{{early} \cdot {unit}}}{{{factor}}} "
            rf"+ ({n} - {early}) \cdot {unit} {tex.equals_number(wrong)}",
            "scaler_wrong",
        ),
        Step(rf"1 - (1 - {tex.number(p)})^{{{n}}} {tex.equals_number(skipped)}", "scaler_skip"),
    ]
    bars = [bar("one_scale", "right", right), bar("two_scales", "wrong", wrong)]
    return Answer(outputs, steps, drawing=Drawing("bars", bars, {"right": right, "wrong": wrong}, limit=right))


CALCULATOR = Calculator(
    name="experiment",
    topic="loss_scaler",
    fields=(
        count("accumulation_steps", 2, 1024, "a"),
        count("changed_after", 1, 1024, "k"),
        number("scale_factor", "2", ("0.000001", "1000000"), "f"),
        number("gradient", "1", ("0.0001", "10000"), "g"),
        number("loss_scale", "65536", ("1", "1000000000"), "S"),
        number("overflow_probability", "0.01", ("0", "1"), "p", zero=True),
    ),
    outputs=(
        Output("right_sum", "number", primary=True),
        Output("wrong_sum", "number", primary=True),
        Output("wrong_factor", "number"),
        Output("window_skip_probability", "percent"),
        Output("scale_after_overflow", "number"),
    ),
    answer=_answer,
    checks=(Check(("accumulation_steps", "changed_after"), _check_change),),
)
