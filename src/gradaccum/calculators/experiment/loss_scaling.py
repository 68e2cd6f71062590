"""Experiment ``loss_scaling``: the loss divided never, once or twice."""

from __future__ import annotations

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Note, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count, number
from gradaccum.drawing import Drawing, bar
from gradaccum.experiments import loss_scaling

LARGEST = 10**300
"""Beyond it a weight has run away, and no double holds it."""

WRONG = {
    "wrong_never_divided": "never",
    "wrong_divided_twice": "twice",
    "wrong_zeroed_each_time": "zeroed",
    "wrong_stepped_each_time": "stepped",
}


def _answer(values: Values) -> Answer:
    b, a, rate = values["micro_batch"], values["accumulation_steps"], values["learning_rate"]
    found = {name: loss_scaling.first_update(b, a, rate, way) for name, way in WRONG.items()}
    right, full = (loss_scaling.first_update(b, a, rate, way) for way in ("right", "full_batch"))
    slope = -full / rate
    found = {name: weight for name, weight in found.items() if abs(weight) <= LARGEST}
    outputs = {
        "right_update": right,
        **found,
        "full_batch_update": full,
        "adam_factor": loss_scaling.adam_factor(a * slope, slope),
    }
    n, eta = tex.count(a), tex.number(rate)
    steps = [
        Step(rf"g = -\frac{{4}}{{b a}} \sum_{{x=1}}^{{b a}} x^2 {tex.equals_number(slope)}", "loss_scaling_gradient"),
        Step(rf"-\eta g = {eta} \cdot {tex.number(-slope)} {tex.equals_number(right)}", "loss_scaling_right"),
        Step(
            rf"-\eta \cdot a g = {n} \cdot {tex.number(right)} {tex.equals_number(found['wrong_never_divided'])}",
            "loss_scaling_never",
        ),
        Step(
            rf"-\eta \cdot \frac{{g}}{{a}} = \frac{{{tex.number(right)}}}{{{n}}} "
            rf"{tex.equals_number(found['wrong_divided_twice'])}",
            "loss_scaling_twice",
        ),
    ]
    bars = [bar("full_batch_update", "plain", full), bar("right_update", "right", right)]
    bars += [bar(name, "wrong", value) for name, value in found.items()]
    shown = {"right": right, "never": found["wrong_never_divided"], "twice": found["wrong_divided_twice"]}
    notes = [Note("one_micro_batch")] if a == 1 else []
    notes += [Note("steps_run_away")] if len(found) < len(WRONG) else []
    return Answer(outputs, steps, notes, drawing=Drawing("bars", bars, shown, limit=full))


CALCULATOR = Calculator(
    name="experiment",
    topic="loss_scaling",
    fields=(
        count("accumulation_steps", 4, 64, "a"),
        count("micro_batch", 2, 64, "b"),
        number("learning_rate", "0.02", ("0.000001", "1"), r"\eta"),
    ),
    outputs=(
        Output("right_update", "number", primary=True),
        Output("wrong_never_divided", "number", primary=True),
        Output("wrong_divided_twice", "number"),
        Output("wrong_zeroed_each_time", "number"),
        Output("wrong_stepped_each_time", "number"),
        Output("full_batch_update", "number"),
        Output("adam_factor", "number"),
    ),
    answer=_answer,
)
