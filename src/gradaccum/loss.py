"""What averaging does to each token when micro-batches hold different numbers of targets.

Symbols: n_i valid targets of micro-batch i, l_i its mean loss, k micro-batches of the window over all replicas, N = sum of n_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Table = Sequence[Sequence[int]]
LossTable = Sequence[Sequence[Fraction | None]]


def total_tokens(tokens: Table) -> int:
    """Valid targets of the window over all replicas.

    N = sum of n_i, a count. ``tokens``: one row per replica, one count per micro-batch.

    >>> total_tokens([[10, 30], [20, 40]])
    100
    """
    return sum(sum(row) for row in tokens)


def token_weights(tokens: Table) -> list[list[Fraction | None]]:
    """Weight of one token of each micro-batch when means of micro-batches are averaged; 1 is right.

    w_i = N / (k n_i), same shape as ``tokens``; None where a micro-batch has no target. Such a micro-batch still counts in k,
    since the trainer still divides by it.
    Source: (1/k) sum S_i / n_i against sum S_i / N, where S_i is the summed loss of micro-batch i.

    >>> token_weights([[2, 8]])
    [[Fraction(5, 2), Fraction(5, 8)]]
    """
    whole, micro_batches = total_tokens(tokens), sum(len(row) for row in tokens)
    return [[Fraction(whole, micro_batches * n) if n else None for n in row] for row in tokens]


def correct_loss(tokens: Table, losses: LossTable) -> Fraction:
    """Mean loss over all targets of the window: what one large batch would report.

    sum n_i l_i / N, in the unit of the losses. Needs at least one target (``ZeroDivisionError`` otherwise).

    >>> correct_loss([[2, 8]], [[Fraction(4), Fraction(1)]])
    Fraction(8, 5)
    """
    pairs = _pairs(tokens, losses)
    return sum((n * loss for n, loss in pairs), Fraction(0)) / total_tokens(tokens)


def mean_of_means_loss(tokens: Table, losses: LossTable) -> Fraction:
    """Mean of the micro-batches' mean losses: what dividing each by the number of micro-batches gives.

    (1/k) sum l_i, in the unit of the losses; a micro-batch without targets adds nothing and still counts in k.

    >>> mean_of_means_loss([[2, 8]], [[Fraction(4), Fraction(1)]])
    Fraction(5, 2)
    """
    micro_batches = sum(len(row) for row in tokens)
    return sum((loss for n, loss in _pairs(tokens, losses) if n), Fraction(0)) / micro_batches


def _pairs(tokens: Table, losses: LossTable) -> list[tuple[int, Fraction]]:
    return [
        (n, loss or Fraction(0))
        for row, loss_row in zip(tokens, losses, strict=True)
        for n, loss in zip(row, loss_row, strict=True)
    ]
