"""Clipping to a length c: once on the window's mean gradient, or too early."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gradaccum.experiments.vectors import Vector, mean, norm, scaled, total


def clipped(vector: Vector, limit: Fraction) -> list[Fraction]:
    """A vector shortened to the limit where it is longer.

    g min(1, c / |g|). Source: torch 2.13, ``nn.utils.clip_grad_norm_``, which adds 1e-6 to the length; not included.

    >>> clipped([Fraction(3), Fraction(4)], Fraction(1))
    [Fraction(3, 5), Fraction(4, 5)]
    """
    length = norm(vector)
    return scaled(vector, min(Fraction(1), limit / length)) if length else list(vector)


def once(gradients: Sequence[Vector], limit: Fraction) -> list[Fraction]:
    """Right: the mean over the window, clipped.

    >>> [round(float(x), 4) for x in once([[Fraction(2), Fraction(0)], [Fraction(0), Fraction(2)]], Fraction(1))]
    [0.7071, 0.7071]
    """
    return clipped(mean(gradients), limit)


def buffer_each_time(gradients: Sequence[Vector], limit: Fraction, divisor: int = 1) -> list[Fraction]:
    """Wrong: the buffer clipped after every backward pass, so that early micro-batches shrink again and again.

    ``divisor``: a where each loss was divided before its backward pass, else 1.

    >>> rows = [[Fraction(2), Fraction(0)], [Fraction(0), Fraction(2)]]
    >>> [round(float(x), 4) for x in buffer_each_time(rows, Fraction(1))]
    [0.4472, 0.8944]
    """
    buffer = [Fraction(0)] * len(gradients[0])
    for gradient in gradients:
        buffer = clipped(total([buffer, scaled(gradient, Fraction(1, divisor))]), limit)
    return buffer


def each_alone(gradients: Sequence[Vector], limit: Fraction) -> list[Fraction]:
    """Wrong: every micro-batch's gradient clipped alone, then averaged.

    >>> each_alone([[Fraction(2), Fraction(0)], [Fraction(0), Fraction(2)]], Fraction(1))
    [Fraction(1, 2), Fraction(1, 2)]
    """
    return mean([clipped(gradient, limit) for gradient in gradients])


def before_unscaling(gradients: Sequence[Vector], limit: Fraction, loss_scale: Fraction) -> list[Fraction]:
    """Wrong: the mean clipped while it still carries the loss scale of fp16 training, then unscaled.

    >>> before_unscaling([[Fraction(1, 2)]], Fraction(1), Fraction(65536))
    [Fraction(1, 65536)]
    """
    return scaled(clipped(scaled(mean(gradients), loss_scale), limit), 1 / loss_scale)
