"""A moving average of the weights that moves on every micro-step instead of every update."""

from __future__ import annotations

from fractions import Fraction

from gradaccum.experiments.vectors import ln, power


def half_life(decay: Fraction) -> Fraction:
    """Steps after which half of the old average is gone: ln 0.5 / ln d, a count.

    >>> round(float(half_life(Fraction(999, 1000))), 1)
    692.8
    """
    return ln(Fraction(1, 2)) / ln(decay)


def decay_per_update(decay: Fraction, accumulation_steps: int) -> Fraction:
    """What a decay applied on every micro-step amounts to over a window: d^a.

    >>> round(float(decay_per_update(Fraction(999, 1000), 8)), 6)
    0.992028
    """
    return decay**accumulation_steps


def decay_per_micro_step(decay: Fraction, accumulation_steps: int) -> Fraction:
    """The decay that, applied on every micro-step, forgets as much a window as d does an update: d^(1/a).

    >>> round(float(decay_per_micro_step(Fraction(992, 1000), 8)), 5)
    0.999
    """
    return power(decay, Fraction(1, accumulation_steps))
