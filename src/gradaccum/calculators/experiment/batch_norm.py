"""Experiment ``batch_norm``: running statistics and the gradient of the scale, whole batch and micro-batches."""

from __future__ import annotations

from fractions import Fraction

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Note, Output, Step, Values
from gradaccum.calculators.experiment.inputs import check_rectangle, number, table
from gradaccum.drawing import Drawing, bar
from gradaccum.experiments import batch_norm


def _answer(values: Values) -> Answer:
    batches, m = values["samples"], values["momentum"]
    a, whole = len(batches), [[x for row in batches for x in row]]
    right, wrong = batch_norm.running_statistics(whole, m), batch_norm.running_statistics(batches, m)
    smaller = batch_norm.corrected_momentum(m, a)
    corrected = batch_norm.running_statistics(batches, smaller)
    full, micro = batch_norm.scale_gradient(whole), batch_norm.scale_gradient(batches)
    frozen = batch_norm.per_sample_gradient(batches) - batch_norm.per_sample_gradient(whole)
    outputs = {
        "right_running_mean": right.mean,
        "right_running_variance": right.variance,
        "wrong_running_mean": wrong.mean,
        "wrong_running_variance": wrong.variance,
        "corrected_momentum": smaller,
        "corrected_running_mean": corrected.mean,
        "corrected_running_variance": corrected.variance,
        "right_scale_gradient": full,
        "wrong_scale_gradient": micro,
        "frozen_gradient_gap": frozen,
    }
    between = batch_norm.variance([batch_norm.mean(row) for row in batches], unbiased=False)
    inside = batch_norm.mean([batch_norm.variance(row, unbiased=False) for row in batches])
    kept = tex.number(m)
    steps = [
        Step(
            rf"v = (1 - {kept}) \cdot 1 + {kept} \cdot {tex.number(batch_norm.variance(whole[0], unbiased=True))} "
            rf"{tex.equals_number(right.variance)}",
            "batch_norm_right",
        ),
        Step(
            rf"v \leftarrow (1 - {kept})\, v + {kept} \cdot v_i \quad \Rightarrow \quad v {tex.equals_number(wrong.variance)}",
            "batch_norm_wrong",
        ),
        Step(rf"{tex.number(inside)} + {tex.number(between)} {tex.equals_number(inside + between)}", "batch_norm_parts"),
        Step(rf"m' = 1 - (1 - {kept})^{{1/{tex.count(a)}}} {tex.equals_number(smaller)}", "batch_norm_momentum"),
    ]
    bars = [
        bar("variance_whole_batch", "right", right.variance),
        bar("variance_micro_batches", "wrong", wrong.variance),
        bar("variance_corrected", "wrong", corrected.variance),
    ]
    notes = [Note("one_micro_batch")] if a == 1 else []
    shown: dict[str, Fraction] = {"right": right.variance, "wrong": wrong.variance}
    return Answer(outputs, steps, notes, drawing=Drawing("bars", bars, shown, limit=right.variance))


CALCULATOR = Calculator(
    name="experiment",
    topic="batch_norm",
    fields=(
        table("samples", "0 1; 2 3; 4 5; 6 7", "x"),
        number("momentum", "0.1", ("0.000001", "0.999999"), "m"),
    ),
    outputs=(
        Output("right_running_variance", "number", primary=True),
        Output("wrong_running_variance", "number", primary=True),
        Output("right_running_mean", "number"),
        Output("wrong_running_mean", "number"),
        Output("corrected_momentum", "number", "m'"),
        Output("corrected_running_mean", "number"),
        Output("corrected_running_variance", "number"),
        Output("right_scale_gradient", "number"),
        Output("wrong_scale_gradient", "number"),
        Output("frozen_gradient_gap", "number"),
    ),
    answer=_answer,
    checks=(Check(("samples",), lambda values: check_rectangle(values, "samples", least=2)),),
)
