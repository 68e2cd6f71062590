"""Experiment ``schedule_units``: a learning-rate schedule that counts micro-steps or processes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count
from gradaccum.drawing import Drawing, Series
from gradaccum.errors import InputError
from gradaccum.experiments import schedule_units

POINTS = 50
MOST = 1_000_000


def _check_warmup(values: Values) -> None:
    """The warmup ends before the run does, or nothing is left to fall."""
    if values["warmup_updates"] >= values["total_updates"]:
        raise InputError("warmup_updates", "too_large", "within_run", value=values["warmup_updates"])


def _answer(values: Values) -> Answer:
    total, warmup, update = (values[n] for n in ("total_updates", "warmup_updates", "update"))
    a, g = values["accumulation_steps"], values["replicas"]
    ways = {"right": (1, 1), "micro_steps": (a, 1), "per_process": (g, 1), "multiplied": (g, a)}

    def rate(way: str, at: int) -> Fraction:
        return schedule_units.rate_at_update(at, warmup, total, *ways[way])

    rates = {way: rate(way, update) for way in ways}
    outputs: dict[str, Any] = {
        "right_rate": rates["right"],
        "wrong_rate_micro_steps": rates["micro_steps"],
        "wrong_rate_per_process": rates["per_process"],
        "wrong_rate_multiplied": rates["multiplied"],
        "right_warmup_end": warmup,
        "wrong_warmup_end": schedule_units.reached_at(warmup, g, a),
        "wrong_end_micro_steps": schedule_units.reached_at(total, a),
        "wrong_end_per_process": schedule_units.reached_at(total, g),
    }
    t, u, n, ranks = tex.count(total), tex.count(update), tex.count(a), tex.count(g)
    steps = [
        Step(rf"\eta({u}) / \eta_{{\max}} {tex.equals_number(rates['right'])}", "schedule_right"),
        Step(
            rf"{u} \cdot {n} = {tex.count(update * a)}, \quad \eta / \eta_{{\max}} {tex.equals_number(rates['micro_steps'])}",
            "schedule_micro",
        ),
        Step(rf"\frac{{T}}{{a}} = \frac{{{t}}}{{{n}}} {tex.equals_number(outputs['wrong_end_micro_steps'])}", "schedule_end"),
        Step(
            rf"\frac{{W a}}{{g}} = \frac{{{tex.count(warmup)} \cdot {n}}}{{{ranks}}} "
            rf"{tex.equals_number(outputs['wrong_warmup_end'])}",
            "schedule_warmup",
        ),
    ]
    marks = sorted({round(total * k / POINTS) for k in range(POINTS + 1)} | {warmup})
    names = {"right": "counts_updates", "micro_steps": "counts_micro_steps", "per_process": "counts_processes"}
    curves = [
        Series(key, "right" if way == "right" else "wrong", [(at, rate(way, at)) for at in marks]) for way, key in names.items()
    ]
    shown = {"right": rates["right"], "wrong": rates["micro_steps"], "update": f"{update:,}"}
    return Answer(outputs, steps, drawing=Drawing("curves", curves, shown))


CALCULATOR = Calculator(
    name="experiment",
    topic="schedule_units",
    fields=(
        count("total_updates", 100, MOST, "T"),
        Field("warmup_updates", "count", "W", default=0, example="0", zero=True, least=0, most=MOST),
        count("update", 25, MOST, "u"),
        count("accumulation_steps", 4, 4096, "a"),
        count("replicas", 2, 4096, "g"),
    ),
    outputs=(
        Output("right_rate", "number", primary=True),
        Output("wrong_rate_micro_steps", "number", primary=True),
        Output("wrong_rate_per_process", "number"),
        Output("wrong_rate_multiplied", "number"),
        Output("right_warmup_end", "count"),
        Output("wrong_warmup_end", "number"),
        Output("wrong_end_micro_steps", "number"),
        Output("wrong_end_per_process", "number"),
    ),
    answer=_answer,
    checks=(Check(("total_updates", "warmup_updates"), _check_warmup),),
)
