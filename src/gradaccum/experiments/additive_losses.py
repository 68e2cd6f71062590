"""Losses that are no sum over samples: averaging them over micro-batches is not computing them over the window."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gradaccum.experiments.vectors import sqrt, total

Rows = Sequence[Sequence[Fraction]]


def dice(overlap: Fraction, predicted: Fraction, target: Fraction) -> Fraction:
    """Dice score of two sets: 2 |P and T| / (|P| + |T|), a ratio. Errors: ``ZeroDivisionError`` where both are empty.

    >>> dice(Fraction(4), Fraction(4), Fraction(4)), dice(Fraction(0), Fraction(1), Fraction(1))
    (Fraction(1, 1), Fraction(0, 1))
    """
    return 2 * overlap / (predicted + target)


def root_mean_square(errors: Sequence[Fraction]) -> Fraction:
    """Root of the mean squared error.

    >>> root_mean_square([Fraction(1), Fraction(7)])
    Fraction(5, 1)
    """
    return sqrt(sum((error**2 for error in errors), Fraction(0)) / len(errors))


def load_balance(routed: Sequence[Fraction]) -> Fraction:
    """Load-balancing loss of a mixture of experts whose router is certain: X sum f_i P_i, 1 when balanced.

    ``routed``: tokens that went to each of the X experts; f_i is the part that went to expert i, and P_i, the router's mean
    probability, equals it. Source: https://arxiv.org/abs/2101.03961, equation 4.

    >>> load_balance([Fraction(4), Fraction(0)]), load_balance([Fraction(4), Fraction(4)])
    (Fraction(2, 1), Fraction(1, 1))
    """
    whole = sum(routed, Fraction(0))
    return len(routed) * sum(((n / whole) ** 2 for n in routed), Fraction(0))


def over_window_and_mean(rows: Rows, name: str) -> tuple[Fraction, Fraction]:
    """A score over the whole window, and the mean of the micro-batches' scores. ``name``: dice, rmse or load_balance.

    >>> over_window_and_mean([[4, 4, 4], [0, 1, 1]], "dice")
    (Fraction(4, 5), Fraction(1, 2))
    """
    if name == "rmse":
        window = root_mean_square([error for row in rows for error in row])
        each = [root_mean_square(row) for row in rows]
    elif name == "dice":
        window, each = dice(*total(rows)), [dice(*map(Fraction, row)) for row in rows]
    else:
        window, each = load_balance(total(rows)), [load_balance(row) for row in rows]
    return window, sum(each, Fraction(0)) / len(each)
