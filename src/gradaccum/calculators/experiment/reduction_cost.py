"""Experiment ``reduction_cost``: what reducing once a window saves."""

from __future__ import annotations

from typing import Any

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count, number
from gradaccum.drawing import Drawing, Series
from gradaccum.errors import InputError
from gradaccum.experiments import reduction_cost


def _check_times(values: Values) -> None:
    """A window saves time, and no more than all that reducing costs."""
    alone, together, a = (values[n] for n in ("seconds_alone", "seconds_accumulated", "accumulation_steps"))
    if together > alone:
        raise InputError("seconds_accumulated", "too_large", "not_slower", value=together)
    if a * together <= alone:
        raise InputError("seconds_accumulated", "not_positive", "too_fast", value=together)


def _answer(values: Values) -> Answer:
    alone, together, a, new = (
        values[n] for n in ("seconds_alone", "seconds_accumulated", "accumulation_steps", "new_accumulation_steps")
    )
    compute, reduction = reduction_cost.fit(alone, together, a)
    right = reduction_cost.seconds_per_micro_batch(compute, reduction, new)
    outputs: dict[str, Any] = {
        "right_seconds": right,
        "wrong_seconds": alone,
        "compute_seconds": compute,
        "reduction_seconds": reduction,
        "speedup": alone / right,
        "largest_speedup": alone / compute,
    }
    first, second, n = tex.number(alone), tex.number(together), tex.count(a)
    c, r = tex.number(compute), tex.number(reduction)
    steps = [
        Step(
            rf"c = \frac{{a\,t_a - t_1}}{{a - 1}} = \frac{{{n} \cdot {second} - {first}}}{{{n} - 1}} "
            rf"{tex.equals_number(compute)}",
            "reduction_compute",
        ),
        Step(rf"r = t_1 - c {tex.equals_number(reduction)}", "reduction_reduction"),
        Step(rf"t({tex.count(new)}) = {c} + \frac{{{r}}}{{{tex.count(new)}}} {tex.equals_number(right)}", "reduction_right"),
        Step(rf"\frac{{c + r}}{{c}} {tex.equals_number(alone / compute)}", "reduction_limit"),
    ]
    marks = range(1, 1 + max(16, min(64, new, 2 * a) if new <= 64 else 64))
    curves = [
        Series("reduced_once", "right", [(k, reduction_cost.seconds_per_micro_batch(compute, reduction, k)) for k in marks]),
        Series("reduced_each_time", "wrong", [(k, alone) for k in marks]),
    ]
    return Answer(outputs, steps, drawing=Drawing("curves", curves, {"right": right, "wrong": alone}, limit=compute))


CALCULATOR = Calculator(
    name="experiment",
    topic="reduction_cost",
    fields=(
        number("seconds_alone", "2", ("0.000001", "1000000"), "t_1"),
        number("seconds_accumulated", "0.91", ("0.000001", "1000000"), "t_a"),
        count("accumulation_steps", 4, 4096, "a", least=2),
        count("new_accumulation_steps", 8, 4096),
    ),
    outputs=(
        Output("right_seconds", "duration", primary=True),
        Output("wrong_seconds", "duration", primary=True),
        Output("compute_seconds", "duration", "c"),
        Output("reduction_seconds", "duration", "r"),
        Output("speedup", "number"),
        Output("largest_speedup", "number"),
    ),
    answer=_answer,
    checks=(Check(("seconds_alone", "seconds_accumulated", "accumulation_steps"), _check_times),),
)
