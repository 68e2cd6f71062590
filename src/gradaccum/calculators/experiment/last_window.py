"""Experiment ``last_window``: what becomes of an incomplete window under each policy."""

from __future__ import annotations

from fractions import Fraction

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Note, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count
from gradaccum.drawing import Drawing, bar
from gradaccum.experiments import last_window


def _answer(values: Values) -> Answer:
    m, a, epochs = values["micro_batches"], values["accumulation_steps"], values["epochs"]
    runs = {policy: last_window.run(m, a, epochs, policy) for policy in last_window.POLICIES}
    rest, scale = m % a, last_window.run(m, a, 1, "divided_by_a").updates[-1]
    outputs = {
        "right_last_update": runs["actual_length"].updates[-1],
        "wrong_last_update": scale,
        "right_updates": len(runs["actual_length"].updates),
        "dropped_micro_batches": runs["dropped"].lost,
        "carried_updates": len(runs["carried"].updates),
        "mixed_updates": runs["carried"].mixed,
        "policies": [
            {
                "policy": policy,
                "updates": len(run.updates),
                "weakest": min(run.updates, default=Fraction(0)),
                "left_out": run.lost,
                "mixed_updates": run.mixed,
            }
            for policy, run in runs.items()
        ],
    }
    r = tex.count(rest)
    steps = [
        Step(rf"{tex.count(m)} = {tex.count(m // a)} \cdot {tex.count(a)} + {r}", "last_window_rest"),
        Step(
            rf"\frac{{1}}{{a}} \sum_{{i=1}}^{{r}} 1 "
            rf"= \frac{{{tex.count(rest or a)}}}{{{tex.count(a)}}} {tex.equals_number(scale)}",
            "last_window_wrong",
        ),
        Step(r"\frac{1}{r} \sum_{i=1}^{r} 1 = 1", "last_window_right"),
    ]
    bars = [bar("divided_by_length", "right", Fraction(1)), bar("divided_by_steps", "wrong", scale)]
    bars.append(bar("dropped_rest", "wrong", Fraction(0 if rest else 1)))
    notes = [] if rest else [Note("full_windows")]
    if not runs["dropped"].updates:
        notes.append(Note("no_update"))
    return Answer(outputs, steps, notes, drawing=Drawing("bars", bars, {"scale": scale, "rest": rest, "steps": a}, limit=1))


CALCULATOR = Calculator(
    name="experiment",
    topic="last_window",
    fields=(
        count("micro_batches", 10, 1000),
        count("accumulation_steps", 4, 1000, "a"),
        count("epochs", 2, 5),
    ),
    outputs=(
        Output("right_last_update", "number", primary=True),
        Output("wrong_last_update", "number", primary=True),
        Output("right_updates", "count"),
        Output("dropped_micro_batches", "count"),
        Output("carried_updates", "count"),
        Output("mixed_updates", "count"),
        Output("policies", "rows"),
    ),
    answer=_answer,
)
