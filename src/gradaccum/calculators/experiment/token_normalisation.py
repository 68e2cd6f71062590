"""Experiment ``token_normalisation``: the mean of means beside the mean over all targets."""

from __future__ import annotations

from typing import Any

from gradaccum import loss, tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Note, Output, Step, Values
from gradaccum.calculators.experiment.inputs import check_rectangle, check_rows, table
from gradaccum.drawing import Drawing, Series
from gradaccum.errors import InputError
from gradaccum.experiments import token_normalisation, vectors


def check_some_target(values: Values) -> None:
    """Without any target every mean is 0/0."""
    if not loss.total_tokens(values["tokens"]):
        raise InputError("tokens", "not_positive", "no_target", value=values["tokens"])


def _flat(table: list[list[Any]]) -> list[Any]:
    return [cell for row in table for cell in row]


def _check_losses(values: Values) -> None:
    tokens, losses = values["tokens"], values["losses"]
    if [len(row) for row in tokens] != [len(row) for row in losses]:
        raise InputError("losses", "wrong_type", "same_shape", value=losses)
    if any(n and cell is None for n, cell in zip(_flat(tokens), _flat(losses), strict=True)):
        raise InputError("losses", "missing", "cell", value=losses)


def _check_gradients(values: Values) -> None:
    check_rectangle(values, "gradients")
    check_rows(values, "gradients", len(_flat(values["tokens"])))


def _answer(values: Values) -> Answer:
    tokens, gradients = values["tokens"], values["gradients"]
    counts = _flat(tokens)
    right, wrong = (average(tokens, values["losses"]) for average in (loss.correct_loss, loss.mean_of_means_loss))
    # A micro-batch without a target has no gradient, whatever was entered for it.
    held = [g if n else [0 * x for x in g] for n, g in zip(counts, gradients, strict=True)]
    right_gradient = token_normalisation.right_gradient(counts, held)
    wrong_gradient = token_normalisation.mean_of_means_gradient(held)
    outputs: dict[str, Any] = {
        "right_loss": right,
        "wrong_loss": wrong,
        "token_weights": loss.token_weights(tokens),
        "right_gradient": right_gradient,
        "wrong_gradient": wrong_gradient,
    }
    error, cosine = (measure(wrong_gradient, right_gradient) for measure in (vectors.relative_error, vectors.cosine))
    outputs |= {name: value for name, value in (("gradient_error", error), ("gradient_cosine", cosine)) if value is not None}
    n, k = tex.count(sum(counts)), tex.count(len(counts))
    steps = [
        Step(
            rf"L = \frac{{1}}{{N}} \sum_i n_i \ell_i = \frac{{1}}{{{n}}} \sum_i n_i \ell_i {tex.equals_number(right)}",
            "correct_loss",
        ),
        Step(
            rf"\tilde{{L}} = \frac{{1}}{{k}} \sum_i \ell_i = \frac{{1}}{{{k}}} \sum_i \ell_i {tex.equals_number(wrong)}",
            "mean_of_means_loss",
        ),
        Step(rf"\nabla L = \frac{{1}}{{N}} \sum_i n_i g_i = {tex.vector(right_gradient)}", "right_gradient"),
        Step(rf"\nabla \tilde{{L}} = \frac{{1}}{{k}} \sum_i g_i = {tex.vector(wrong_gradient)}", "wrong_gradient"),
    ]
    notes = [Note("equal_lengths")] if len(set(counts)) == 1 else []
    arrows = [
        Series("mean_over_targets", "right", [vectors.plane(right_gradient)]),
        Series("mean_of_means", "wrong", [vectors.plane(wrong_gradient)]),
    ]
    shown = {"right": right, "wrong": wrong}
    return Answer(outputs, steps, notes, drawing=Drawing("arrows", arrows, shown))


CALCULATOR = Calculator(
    name="experiment",
    topic="token_normalisation",
    fields=(
        table("tokens", "2 8", "n_i", counts=True, negative=False),
        table("losses", "4 1", r"\ell_i"),
        table("gradients", "4 0; 0 1", "g_i"),
    ),
    outputs=(
        Output("right_loss", "number", "L", primary=True),
        Output("wrong_loss", "number", r"\tilde{L}", primary=True),
        Output("token_weights", "table", "w_i"),
        Output("right_gradient", "vector"),
        Output("wrong_gradient", "vector"),
        Output("gradient_error", "percent"),
        Output("gradient_cosine", "number"),
    ),
    answer=_answer,
    checks=(
        Check(("tokens",), check_some_target),
        Check(("tokens", "losses"), _check_losses),
        Check(("tokens", "gradients"), _check_gradients),
    ),
)
