"""Dividing the loss by the accumulation steps: never, once, twice; and two loops that lose the sum itself.

The model is one weight: prediction w x, target 2 x, loss (w x - 2 x)^2 averaged over a micro-batch, w starting at 0, the
samples x = 1, 2, ..., b a in their order. Everything is exact.
"""

from __future__ import annotations

from fractions import Fraction

TARGET = 2


def gradient(weight: Fraction, samples: range) -> Fraction:
    """Gradient of the mean squared error over the samples.

    (1/n) sum 2 (w - 2) x^2. Source: derivative of (w x - 2 x)^2.

    >>> gradient(Fraction(0), range(1, 9))
    Fraction(-102, 1)
    """
    return 2 * (weight - TARGET) * Fraction(sum(x * x for x in samples), len(samples))


def micro_batches(micro_batch: int, accumulation_steps: int) -> list[range]:
    """The samples 1 to b a, b at a time.

    >>> micro_batches(2, 2)
    [range(1, 3), range(3, 5)]
    """
    return [range(1 + i * micro_batch, 1 + (i + 1) * micro_batch) for i in range(accumulation_steps)]


def first_update(micro_batch: int, accumulation_steps: int, learning_rate: Fraction, way: str) -> Fraction:
    """The weight after one window of plain SGD, starting at 0.

    ``way``: ``"full_batch"``: one batch of b a samples; ``"right"``: each loss divided by a; ``"never"``: not divided;
    ``"twice"``: divided by a and once more by a; ``"zeroed"``: divided, but ``zero_grad`` in every pass leaves the last
    micro-batch alone; ``"stepped"``: undivided, with an optimizer step in every pass.
    Does not include: momentum, weight decay, adaptive optimizers.

    >>> [float(first_update(2, 4, Fraction(1, 50), way)) for way in ("right", "never", "twice", "zeroed")]
    [2.04, 8.16, 0.51, 1.13]
    """
    start, batches = Fraction(0), micro_batches(micro_batch, accumulation_steps)
    if way == "full_batch":
        return -learning_rate * gradient(start, range(1, micro_batch * accumulation_steps + 1))
    if way == "stepped":
        weight = start
        for samples in batches:
            weight -= learning_rate * gradient(weight, samples)
        return weight
    divisor = {"right": accumulation_steps, "never": 1, "twice": accumulation_steps**2, "zeroed": accumulation_steps}[way]
    buffer = Fraction(0)
    for samples in batches:
        buffer = (Fraction(0) if way == "zeroed" else buffer) + gradient(start, samples) / divisor
    return -learning_rate * buffer


def adam_factor(undivided: Fraction, divided: Fraction, epsilon: Fraction = Fraction(1, 10**8)) -> Fraction:
    """How much longer Adam's first step is when the gradient was summed instead of averaged.

    Adam's first step is lr g / (|g| + eps) whatever the size of g. Source: https://arxiv.org/abs/1412.6980, Algorithm 1.

    >>> float(adam_factor(Fraction(8), Fraction(1), Fraction(1, 10)))
    1.0864197530864197
    """
    step, other = (abs(g) / (abs(g) + epsilon) for g in (undivided, divided))
    return step / other
