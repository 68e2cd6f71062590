"""Training with the small batch itself: the second moment's decay must be moved with it."""

from __future__ import annotations

from fractions import Fraction

from gradaccum.experiments.moving_average import half_life
from gradaccum.experiments.vectors import power


def half_life_samples(beta2: Fraction, effective_batch: int) -> Fraction:
    """Samples after which half of Adam's second moment is forgotten: E ln 0.5 / ln beta2.

    Source: https://arxiv.org/abs/2507.07101, section on the half-life of the second moment.

    >>> round(float(half_life_samples(Fraction(95, 100), 512)), 1)
    6918.9
    """
    return effective_batch * half_life(beta2)


def matching_beta2(beta2: Fraction, effective_batch: int, new_effective_batch: int) -> Fraction:
    """The beta2 with the same half-life in samples: beta2^(E' / E).

    >>> round(float(matching_beta2(Fraction(95, 100), 512, 1)), 8)
    0.99989982
    """
    return power(beta2, Fraction(new_effective_batch, effective_batch))
