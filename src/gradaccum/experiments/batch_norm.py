"""Normalisation under accumulation: running statistics, and the gradient of the scale, for one feature.

Samples x come as micro-batches. Batch normalisation uses the statistics of whatever goes through together; layer, group and
frozen batch normalisation never mix samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gradaccum.experiments.vectors import power, sqrt

Batch = Sequence[Fraction]

EPSILON = Fraction(1, 10**5)
"""As in PyTorch, so that a batch without any spread can be normalised."""


@dataclass(frozen=True)
class Running:
    """Running mean and variance; PyTorch starts with 0 and 1."""

    mean: Fraction = Fraction(0)
    variance: Fraction = Fraction(1)


def mean(batch: Batch) -> Fraction:
    """Mean of one feature over the samples.

    >>> mean([Fraction(1), Fraction(2)])
    Fraction(3, 2)
    """
    return sum(batch, Fraction(0)) / len(batch)


def variance(batch: Batch, *, unbiased: bool) -> Fraction:
    """Variance over the samples: divided by n - 1 for the running statistics, by n for normalising.

    >>> variance([Fraction(x) for x in range(8)], unbiased=True), variance([Fraction(x) for x in range(8)], unbiased=False)
    (Fraction(6, 1), Fraction(21, 4))
    """
    centre = mean(batch)
    return sum(((x - centre) ** 2 for x in batch), Fraction(0)) / (len(batch) - unbiased)


def running_statistics(batches: Sequence[Batch], momentum: Fraction) -> Running:
    """Running statistics after the batches went through one after the other.

    r <- (1 - m) r + m s, with the batch's mean and its unbiased variance for s.
    Source: torch 2.13, ``nn/modules/batchnorm.py`` and ``batch_norm`` (unbiased variance for the running buffer).

    >>> whole = running_statistics([[Fraction(x) for x in range(8)]], Fraction(1, 10))
    >>> float(whole.mean), float(whole.variance)
    (0.35, 1.5)
    """
    running = Running()
    for batch in batches:
        keep = 1 - momentum
        running = Running(
            keep * running.mean + momentum * mean(batch), keep * running.variance + momentum * variance(batch, unbiased=True)
        )
    return running


def corrected_momentum(momentum: Fraction, accumulation_steps: int) -> Fraction:
    """The momentum under which a passes forget as much of the old mean as one pass did: 1 - (1 - m)^(1/a).

    It repairs the rate only: the variance between micro-batches stays missing.

    >>> float(corrected_momentum(Fraction(1, 10), 4))
    0.025996253574703237
    """
    return 1 - power(1 - momentum, Fraction(1, accumulation_steps))


def normalised(batch: Batch) -> list[Fraction]:
    """The batch with its own mean and (biased) variance: (x - mean) / sqrt(var + eps).

    >>> [round(float(x), 3) for x in normalised([Fraction(5), Fraction(500)])]
    [-1.0, 1.0]
    """
    centre, spread = mean(batch), sqrt(variance(batch, unbiased=False) + EPSILON)
    return [(x - centre) / spread for x in batch]


def scale_gradient(batches: Sequence[Batch]) -> Fraction:
    """Gradient of the scale at 1 under the loss (1/2)(y - x)^2, averaged over each batch, then over the batches.

    Mean of (y - x) y, where y is the normalised sample. One batch alone gives the full-batch gradient.
    Source: y = scale * normalised + shift, derivative of the loss with respect to scale at scale 1 and shift 0.

    >>> rows = [[Fraction(0), Fraction(1)], [Fraction(2), Fraction(3)]]
    >>> round(float(scale_gradient(rows)), 3), round(float(scale_gradient([sum(rows, [])])), 3)
    (0.5, -0.118)
    """
    gradients = [mean([(y - x) * y for x, y in zip(batch, normalised(batch), strict=True)]) for batch in batches]
    return mean(gradients)


def per_sample_gradient(batches: Sequence[Batch]) -> Fraction:
    """The same where every sample is normalised with fixed statistics, as frozen batch normalisation does with 0 and 1.

    Mean of (x - x / s) x / s with s = sqrt(1 + eps), negated; a sum over samples, so the batches do not matter.

    >>> rows = [[Fraction(0), Fraction(1)], [Fraction(2), Fraction(3)]]
    >>> per_sample_gradient(rows) == per_sample_gradient([sum(rows, [])])
    True
    """
    spread = sqrt(1 + EPSILON)
    return mean([mean([(x / spread - x) * x / spread for x in batch]) for batch in batches])
