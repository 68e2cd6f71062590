"""Calculator ``learning_rate``: what a different effective batch asks of a recipe."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gradaccum import schedule, tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.errors import InputError

RULE_TEX = {"linear": r"\frac{E'}{E}", "square-root": r"\sqrt{\frac{E'}{E}}", "none": "1"}


def _check_beta(values: Values) -> None:
    """At 1 a moving average never moves, and no power changes it."""
    if values.get("beta2") == 1:
        raise InputError("beta2", "too_large", "below_one", value=values["beta2"])


def _rescaled(values: Values, name: str, outputs: dict[str, Any]) -> list[Step]:
    """An update count that sees the same samples, for whichever of warm-up and run length is given."""
    if name not in values:
        return []
    old, new = values["effective_batch"], values["new_effective_batch"]
    count = schedule.rescaled_updates(values[name], old, new)
    outputs[f"new_{name}"] = count
    u = "U_w" if name == "warmup_updates" else "U"
    numbers = rf"{tex.count(values[name])} \cdot \frac{{{tex.count(old)}}}{{{tex.count(new)}}}"
    formula = (
        rf"{u}' = \left\lceil {u} \cdot \frac{{E}}{{E'}} \right\rceil = \left\lceil {numbers} \right\rceil = {tex.count(count)}"
    )
    return [Step(formula, f"new_{name}")]


def _answer(values: Values) -> Answer:
    old, new, rate, rule = (values[n] for n in ("effective_batch", "new_effective_batch", "learning_rate", "rule"))
    factor = schedule.learning_rate_factor(old, new, rule)
    new_rate = rate * factor if isinstance(factor, Fraction) else Fraction(factor) * rate
    outputs: dict[str, Any] = {"new_learning_rate": new_rate, "factor": factor}
    product = rf"{tex.number(factor)} \cdot {tex.number(rate)}"
    steps = [
        Step(rf"k = {RULE_TEX[rule]} {tex.equals_number(factor)}", f"factor_{rule}"),
        Step(rf"\eta' = k \cdot \eta = {product} {tex.equals_number(new_rate)}", "new_learning_rate"),
    ]
    if "beta2" in values:
        beta = schedule.rescaled_beta(values["beta2"], old, new)
        outputs["new_beta2"] = beta
        numbers = rf"{tex.number(values['beta2'])}^{{{tex.count(new)}/{tex.count(old)}}} {tex.equals_number(beta)}"
        steps.append(Step(rf"\beta_2' = \beta_2^{{E'/E}} = {numbers}", "new_beta2"))
    steps += _rescaled(values, "warmup_updates", outputs) + _rescaled(values, "total_updates", outputs)
    notes = [Note("same_batch")] if old == new else [Note(f"rule_{rule}")]
    if old != new and "beta2" in values:
        notes.append(Note("beta2_half_life"))
    if old < new:
        notes.append(Note("critical_batch"))
    if values.get("warmup_updates", 0) > values.get("total_updates", values.get("warmup_updates", 0)):
        notes.append(Note("warmup_longer_than_run"))
    return Answer(outputs, steps, notes)


CALCULATOR = Calculator(
    name="learning_rate",
    fields=(
        Field("learning_rate", "number", r"\eta", required=True, example="3e-4"),
        Field("effective_batch", "count", "E", required=True, example="512"),
        Field("new_effective_batch", "count", "E'", required=True, example="128"),
        Field("rule", "choice", required=True, example="square-root", choices=schedule.RULES),
        Field("beta2", "number", r"\beta_2", fraction=True, example="0.95"),
        Field("warmup_updates", "count", "U_w", example="100", group="more"),
        Field("total_updates", "count", "U", example="1000", group="more"),
    ),
    outputs=(
        Output("new_learning_rate", "number", r"\eta'", primary=True),
        Output("factor", "number", "k"),
        Output("new_beta2", "number", r"\beta_2'"),
        Output("new_warmup_updates", "count", "U_w'"),
        Output("new_total_updates", "count", "U'"),
    ),
    answer=_answer,
    checks=(Check(("beta2",), _check_beta),),
)
