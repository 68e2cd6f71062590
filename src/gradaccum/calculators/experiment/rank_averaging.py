"""Experiment ``rank_averaging``: local means, and the forgotten factor of the data-parallel ranks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Note, Output, Step, Values
from gradaccum.calculators.experiment.inputs import check_rectangle, check_rows, table
from gradaccum.calculators.experiment.token_normalisation import check_some_target
from gradaccum.drawing import Drawing, Series
from gradaccum.experiments import rank_averaging, vectors


def _check_gradients(values: Values) -> None:
    check_rectangle(values, "gradients")
    check_rows(values, "gradients", len(values["tokens"]))


def _answer(values: Values) -> Answer:
    counts = [sum(row) for row in values["tokens"]]
    ranks = len(counts)
    held = [g if n else [0 * x for x in g] for n, g in zip(counts, values["gradients"], strict=True)]
    right = rank_averaging.right_gradient(counts, held)
    local, forgotten = rank_averaging.local_mean_gradient(held), rank_averaging.global_count_gradient(counts, held)
    weights = rank_averaging.token_weights(counts)
    outputs: dict[str, Any] = {
        "right_gradient": right,
        "wrong_local_means": local,
        "wrong_without_replicas": forgotten,
        "wrong_factor": Fraction(1, ranks),
        "token_weights": [[weight] for weight in weights],
    }
    error = vectors.relative_error(local, right)
    outputs |= {} if error is None else {"gradient_error": error}
    n, g = tex.count(sum(counts)), tex.count(ranks)
    first = next(i for i, count in enumerate(counts) if count)
    weight = rf"\frac{{{n}}}{{{g} \cdot {tex.count(counts[first])}}} {tex.equals_number(weights[first] or Fraction(0))}"
    steps = [
        Step(rf"\nabla L = \frac{{g}}{{g}} \sum_j \frac{{n_j g_j}}{{N}} = {tex.vector(right)}", "rank_right"),
        Step(rf"\frac{{1}}{{g}} \sum_j g_j = {tex.vector(local)}", "rank_local"),
        Step(rf"w_{{{first + 1}}} = \frac{{N}}{{g \cdot n_{{{first + 1}}}}} = {weight}", "rank_weight"),
        Step(rf"\frac{{1}}{{g}} \sum_j \frac{{n_j g_j}}{{N}} = {tex.vector(forgotten)}", "rank_forgotten"),
    ]
    arrows = [
        Series("times_replicas", "right", [vectors.plane(right)]),
        Series("local_means", "wrong", [vectors.plane(local)]),
        Series("without_replicas", "wrong", [vectors.plane(forgotten)]),
    ]
    notes = [Note("one_rank")] if ranks == 1 else []
    return Answer(outputs, steps, notes, drawing=Drawing("arrows", arrows, {"ranks": ranks, "factor": Fraction(1, ranks)}))


CALCULATOR = Calculator(
    name="experiment",
    topic="rank_averaging",
    fields=(
        table("tokens", "52; 84", "n_j", counts=True, negative=False),
        table("gradients", "1 0; 0 1", "g_j"),
    ),
    outputs=(
        Output("right_gradient", "vector", primary=True),
        Output("wrong_local_means", "vector", primary=True),
        Output("wrong_without_replicas", "vector"),
        Output("wrong_factor", "number"),
        Output("token_weights", "table", "w_j"),
        Output("gradient_error", "percent"),
    ),
    answer=_answer,
    checks=(Check(("tokens",), check_some_target), Check(("tokens", "gradients"), _check_gradients)),
)
