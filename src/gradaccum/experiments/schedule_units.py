"""A learning-rate schedule that counts something other than optimizer updates.

The schedule warms up linearly over W steps, then falls linearly to 0 at step T; the peak is 1. It may be stepped several times
an update (once a micro-batch: a; by every process: g) and may have been built for m times as many steps.
"""

from __future__ import annotations

from fractions import Fraction


def rate(step: Fraction, warmup_steps: int, total_steps: int) -> Fraction:
    """Part of the peak learning rate at a step of the schedule.

    step / W in the warmup, then (T - step) / (T - W), never below 0.

    >>> rate(Fraction(25), 0, 100), rate(Fraction(5), 10, 100), rate(Fraction(200), 0, 100)
    (Fraction(3, 4), Fraction(1, 2), Fraction(0, 1))
    """
    if step < warmup_steps:
        return step / warmup_steps
    return max(Fraction(0), (total_steps - step) / (total_steps - warmup_steps))


def rate_at_update(update: int, warmup_updates: int, total_updates: int, steps_per_update: int, built_for: int = 1) -> Fraction:
    """Part of the peak at an update, when each update moves the schedule on by several steps.

    The schedule was built for ``built_for`` times the updates: equal to ``steps_per_update`` it is right.

    >>> rate_at_update(25, 0, 100, 4), rate_at_update(25, 0, 100, 4, built_for=4)
    (Fraction(0, 1), Fraction(3, 4))
    """
    return rate(Fraction(update * steps_per_update), warmup_updates * built_for, total_updates * built_for)


def reached_at(updates: int, steps_per_update: int, built_for: int = 1) -> Fraction:
    """The update at which the schedule reaches a point that was meant for the update ``updates``.

    updates m / s.

    >>> reached_at(10000, 8, built_for=2)
    Fraction(2500, 1)
    """
    return Fraction(updates * built_for, steps_per_update)
