"""Calculator ``loss_weights``: what averaging does to each token."""

from __future__ import annotations

from typing import Any

from gradaccum import loss, tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.errors import InputError


def _shape(table: list[list[Any]]) -> list[int]:
    return [len(row) for row in table]


def _check_tokens(values: Values) -> None:
    """All replicas run the same number of micro-batches, and one of them must hold a target."""
    tokens = values["tokens"]
    if len(set(_shape(tokens))) > 1:
        raise InputError("tokens", "wrong_type", "rectangular", value=tokens)
    if not loss.total_tokens(tokens):
        raise InputError("tokens", "not_positive", "no_target", value=tokens)


def _check_losses(values: Values) -> None:
    """One loss for each micro-batch; only a micro-batch without a target may go without."""
    if "losses" not in values:
        return
    tokens, losses = values["tokens"], values["losses"]
    if _shape(tokens) != _shape(losses):
        raise InputError("losses", "wrong_type", "same_shape", value=losses)
    for row, loss_row in zip(tokens, losses, strict=True):
        if any(n and value is None for n, value in zip(row, loss_row, strict=True)):
            raise InputError("losses", "missing", "cell", value=losses)


def _answer(values: Values) -> Answer:
    tokens = values["tokens"]
    total, weights = loss.total_tokens(tokens), loss.token_weights(tokens)
    micro_batches = sum(_shape(tokens))
    outputs: dict[str, Any] = {"total_tokens": total}
    steps = [Step(rf"N = \sum_i n_i = {tex.count(total)}", "total_tokens")]
    first = next(n for row in tokens for n in row if n)
    weight = next(w for row in weights for w in row if w is not None)
    numbers = rf"\frac{{{tex.count(total)}}}{{{tex.count(micro_batches)} \cdot {tex.count(first)}}} {tex.equals_number(weight)}"
    steps.append(Step(rf"w_1 = \frac{{N}}{{k \cdot n_1}} = {numbers}", "token_weight"))
    if "losses" in values:
        right = loss.correct_loss(tokens, values["losses"])
        means = loss.mean_of_means_loss(tokens, values["losses"])
        outputs |= {"correct_loss": right, "mean_of_means_loss": means}
        steps.append(Step(rf"\frac{{1}}{{N}} \sum_i n_i \ell_i {tex.equals_number(right)}", "correct_loss"))
        steps.append(Step(rf"\frac{{1}}{{k}} \sum_i \ell_i {tex.equals_number(means)}", "mean_of_means_loss"))
    outputs["token_weights"] = weights
    empty = sum(not n for row in tokens for n in row)
    notes = [Note("empty_micro_batch", {"empty": empty})] if empty else []
    if all(w == 1 for row in weights for w in row):
        notes.append(Note("equal_lengths"))
    return Answer(outputs, steps, notes)


CALCULATOR = Calculator(
    name="loss_weights",
    fields=(
        Field("tokens", "counts", "n_i", required=True, zero=True, example="2 8"),
        Field("losses", "numbers", r"\ell_i", example="4 1"),
    ),
    outputs=(
        Output("correct_loss", "number", primary=True),
        Output("mean_of_means_loss", "number", primary=True),
        Output("total_tokens", "count", "N"),
        Output("token_weights", "table", "w_i"),
    ),
    answer=_answer,
    checks=(Check(("tokens",), _check_tokens), Check(("tokens", "losses"), _check_losses)),
)
