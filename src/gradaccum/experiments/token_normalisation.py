"""Averaging the means of micro-batches that hold different numbers of targets. The weights are those of ``gradaccum.loss``.

Each micro-batch i has n_i targets and the mean gradient g_i over them, a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gradaccum.experiments.vectors import Vector, mean, scaled, total


def right_gradient(tokens: Sequence[int], gradients: Sequence[Vector]) -> list[Fraction]:
    """Gradient of the mean over all targets of the window: every target counts the same.

    (1/N) sum n_i g_i, with N = sum n_i; same length as each g_i. Errors: ``ZeroDivisionError`` without any target.

    >>> right_gradient([2, 8], [[Fraction(4), Fraction(0)], [Fraction(0), Fraction(1)]])
    [Fraction(4, 5), Fraction(4, 5)]
    """
    return scaled(total([scaled(g, Fraction(n)) for n, g in zip(tokens, gradients, strict=True)]), Fraction(1, sum(tokens)))


def mean_of_means_gradient(gradients: Sequence[Vector]) -> list[Fraction]:
    """Gradient when each micro-batch's mean loss is divided by the number of micro-batches.

    (1/k) sum g_i: a target of a short micro-batch counts for more.

    >>> mean_of_means_gradient([[Fraction(4), Fraction(0)], [Fraction(0), Fraction(1)]])
    [Fraction(2, 1), Fraction(1, 2)]
    """
    return mean(gradients)
