"""Averaging gradients over data-parallel ranks that hold different numbers of targets.

Rank j holds n_j targets in its window and the mean gradient g_j over them. Data parallelism averages over the g ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gradaccum.experiments.token_normalisation import right_gradient
from gradaccum.experiments.vectors import Vector, mean, scaled

__all__ = ["global_count_gradient", "local_mean_gradient", "right_gradient", "token_weights"]


def local_mean_gradient(gradients: Sequence[Vector]) -> list[Fraction]:
    """What the reduction gives when every rank divided by its own targets: (1/g) sum g_j.

    >>> local_mean_gradient([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]])
    [Fraction(1, 2), Fraction(1, 2)]
    """
    return mean(gradients)


def global_count_gradient(tokens: Sequence[int], gradients: Sequence[Vector]) -> list[Fraction]:
    """What it gives when every rank divided by the global N but forgot that the reduction divides by g once more.

    (1/g) sum n_j g_j / N: exactly 1/g of what is right.

    >>> global_count_gradient([1, 1], [[Fraction(2)], [Fraction(4)]])
    [Fraction(3, 2)]
    """
    return scaled(right_gradient(tokens, gradients), Fraction(1, len(tokens)))


def token_weights(tokens: Sequence[int]) -> list[Fraction | None]:
    """Weight of one target of each rank under local means; 1 is right, None where a rank has no target.

    N / (g n_j).

    >>> [round(float(weight), 4) for weight in token_weights([52, 84])]
    [1.3077, 0.8095]
    """
    return [Fraction(sum(tokens), len(tokens) * n) if n else None for n in tokens]
