"""Decoupled weight decay acts once an optimizer step, whatever the step has seen."""

from __future__ import annotations

from fractions import Fraction

from gradaccum.experiments.vectors import power


def shrinkage(learning_rate: Fraction, weight_decay: Fraction, updates: int) -> Fraction:
    """What is left of a weight that gets no gradient.

    (1 - lr wd)^U, a ratio. Source: AdamW, https://arxiv.org/abs/1711.05101; torch 2.13, ``optim/adamw.py``.

    >>> round(float(shrinkage(Fraction(1, 1000), Fraction(1, 10), 8000)), 3)
    0.449
    """
    return power(1 - learning_rate * weight_decay, Fraction(updates))
