"""Experiment ``small_batch``: the second moment's memory when the batch itself is small."""

from __future__ import annotations

from fractions import Fraction

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Note, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count, number
from gradaccum.drawing import Drawing, Series
from gradaccum.experiments import small_batch

MOST = 1_048_576
POINTS = 16


def _answer(values: Values) -> Answer:
    beta, old, new = values["beta2"], values["effective_batch"], values["new_effective_batch"]
    right = small_batch.matching_beta2(beta, old, new)
    half, kept = (small_batch.half_life_samples(beta, batch) for batch in (old, new))
    outputs = {
        "right_beta2": right,
        "wrong_beta2": beta,
        "right_half_life_samples": half,
        "wrong_half_life_samples": kept,
        "updates_factor": Fraction(old, new),
    }
    b, e, f = tex.number(beta), tex.count(old), tex.count(new)
    steps = [
        Step(rf"{e} \cdot \frac{{\ln 0.5}}{{\ln {b}}} {tex.equals_number(half)}", "small_half_life"),
        Step(rf"{f} \cdot \frac{{\ln 0.5}}{{\ln {b}}} {tex.equals_number(kept)}", "small_wrong"),
        Step(rf"\beta_2' = {b}^{{{f}/{e}}} {tex.equals_number(right)}", "small_right"),
    ]
    low, high = sorted((old, new))
    marks = sorted({low + round(Fraction((high - low) * k, POINTS)) for k in range(POINTS + 1)})
    curves = [
        Series("beta2_moved", "right", [(batch, half) for batch in marks]),
        Series("beta2_kept", "wrong", [(batch, small_batch.half_life_samples(beta, batch)) for batch in marks]),
    ]
    notes = [Note("same_batch")] if old == new else []
    return Answer(outputs, steps, notes, drawing=Drawing("curves", curves, {"right": half, "wrong": kept}))


CALCULATOR = Calculator(
    name="experiment",
    topic="small_batch",
    fields=(
        number("beta2", "0.95", ("0.01", "0.9999999"), r"\beta_2"),
        count("effective_batch", 512, MOST, "E"),
        count("new_effective_batch", 1, MOST, "E'"),
    ),
    outputs=(
        Output("right_beta2", "number", r"\beta_2'", primary=True),
        Output("wrong_beta2", "number", r"\beta_2"),
        Output("right_half_life_samples", "number", primary=True),
        Output("wrong_half_life_samples", "number", primary=True),
        Output("updates_factor", "number"),
    ),
    answer=_answer,
)
