"""The loss scale of fp16 training, changed in the middle of a window; and what one overflow costs."""

from __future__ import annotations

from fractions import Fraction

GROWTH, BACKOFF = Fraction(2), Fraction(1, 2)
"""PyTorch's defaults. Source: torch 2.13, ``amp/grad_scaler.py``."""


def summed_gradient(gradient: Fraction, accumulation_steps: int, changed_after: int, factor: Fraction) -> Fraction:
    """What unscaling gives when the scale was multiplied by ``factor`` after ``changed_after`` of the window's micro-batches.

    (k g S + (a - k) g f S) / (f S): the scale S itself drops out. ``factor`` 1 is the right sum a g.

    >>> summed_gradient(Fraction(1), 2, 1, GROWTH), summed_gradient(Fraction(1), 2, 1, Fraction(1))
    (Fraction(3, 2), Fraction(2, 1))
    """
    return gradient * (changed_after / factor + (accumulation_steps - changed_after))


def window_skip_probability(overflow_probability: Fraction, accumulation_steps: int) -> Fraction:
    """Part of the windows whose update is skipped: one overflow in any micro-batch is enough.

    1 - (1 - p)^a.

    >>> round(float(window_skip_probability(Fraction(1, 100), 32)), 4)
    0.275
    """
    return 1 - (1 - overflow_probability) ** accumulation_steps
