"""Time of a micro-batch when the gradients are reduced once a window: t(a) = c + r / a."""

from __future__ import annotations

from fractions import Fraction


def fit(seconds: Fraction, seconds_accumulated: Fraction, accumulation_steps: int) -> tuple[Fraction, Fraction]:
    """Fit c and r, in seconds, to the time of a micro-batch that reduces itself and that of one in a window of a > 1.

    c = (a t_a - t_1) / (a - 1), r = t_1 - c.
    Does not include: a reduction that hides behind the backward pass, whose hidden part is in c.

    >>> c, r = fit(Fraction(2), Fraction(91, 100), 4)
    >>> round(float(c), 3), round(float(r), 3)
    (0.547, 1.453)
    """
    compute = (accumulation_steps * seconds_accumulated - seconds) / (accumulation_steps - 1)
    return compute, seconds - compute


def seconds_per_micro_batch(compute: Fraction, reduction: Fraction, accumulation_steps: int) -> Fraction:
    """Seconds of one micro-batch in a window of a: c + r / a.

    >>> seconds_per_micro_batch(Fraction(1, 2), Fraction(3, 2), 4)
    Fraction(7, 8)
    """
    return compute + reduction / accumulation_steps
