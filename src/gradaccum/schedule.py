"""How many updates a run makes, how long it takes, and what a new effective batch asks of its learning rate.

Symbols: D samples of an epoch, m micro-batches of an epoch per replica, U updates of the run; b, a, g and E as in
``accumulation``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from gradaccum.units import read_count

LAST_WINDOW = ("step", "drop", "carry")
RULES = ("linear", "square-root", "none")

# One context for every root and power: libm's pow differs in the last bit between platforms, decimal does not.
_EXACT = Context(prec=50)


@dataclass(frozen=True)
class Updates:
    """Counts of a run; the last window is the one that may be incomplete."""

    micro_batches_per_epoch: int
    updates_per_epoch: int
    total_updates: int
    last_window_micro_batches: int
    last_window_gradient_scale: Fraction


def updates(
    samples: int,
    micro_batch: int,
    accumulation_steps: int,
    replicas: int = 1,
    epochs: int = 1,
    *,
    drop_last: bool = False,
    last_window: str = "step",
) -> Updates:
    """Micro-batches, updates and the incomplete last window of a run.

    m = ceil(D / (b g)), or floor with ``drop_last``. Per epoch there are ceil(m / a) updates when an incomplete window still
    steps (``"step"``) and floor(m / a) when it is dropped; when it is carried on, floor(m epochs / a) over the run (and
    floor(m / a) in the first epoch).
    The rest r = m mod a (with ``"carry"``: m epochs mod a, what is left when the run ends) has gradient scale r / a under a
    trainer that always divides by a, and 1 when no window is incomplete.
    ``samples``: D (prompts x samples per prompt); all arguments are counts >= 1. All results are counts, the scale a ratio.
    Errors: ``InputError``.
    Source: read off Transformers 5.24 and Lightning 2.6.6 (step), DeepSpeed 0.19.6 and Keras 3.15 (carry).
    Does not include: updates a gradient scaler skips, and samples a distributed sampler repeats to even the replicas out.

    >>> updates(samples=900, micro_batch=1, accumulation_steps=8, replicas=2, epochs=10).total_updates
    570
    """
    counts = {"samples": samples, "micro_batch": micro_batch, "accumulation_steps": accumulation_steps, "replicas": replicas}
    for name, value in (counts | {"epochs": epochs}).items():
        read_count(value, name)
    whole, rest = divmod(samples, micro_batch * replicas)
    micro_batches = whole + (1 if rest and not drop_last else 0)
    full, left = divmod(micro_batches, accumulation_steps)
    if last_window == "carry":
        total, left = divmod(micro_batches * epochs, accumulation_steps)
    else:
        full += 1 if left and last_window == "step" else 0
        total = full * epochs
    scale = Fraction(left, accumulation_steps) if left else Fraction(1)
    return Updates(micro_batches, full, total, left, scale)


def warmup_updates(ratio: Fraction, total_updates: int) -> int:
    """Updates of a warmup given as a part of the run, rounded up.

    ceil(ratio U), a count. ``ratio`` is exact: one tenth of 250 is 25, while binary floating point rounds 0.1 up and gives 26.

    >>> warmup_updates(Fraction(1, 10), 250)
    25
    """
    return math.ceil(ratio * total_updates)


def window_seconds(accumulation_steps: int, seconds_per_micro_batch: Fraction, seconds_per_update: Fraction) -> Fraction:
    """Time of one full window: a micro-batches and one update (reduction over the replicas and optimizer step).

    a t_micro + t_update, in seconds.

    >>> window_seconds(8, Fraction(1, 4), Fraction(1, 2))
    Fraction(5, 2)
    """
    return accumulation_steps * seconds_per_micro_batch + seconds_per_update


def run_seconds(counts: Updates, epochs: int, seconds_per_micro_batch: Fraction, seconds_per_update: Fraction) -> Fraction:
    """Time of the run: every micro-batch that is computed, dropped windows included, and every update that is made.

    m epochs t_micro + U t_update, in seconds. Does not include: evaluation, checkpoints, waiting for data, start-up.

    >>> run_seconds(updates(100, 1, 4), 1, Fraction(1), Fraction(2))
    Fraction(150, 1)
    """
    return counts.micro_batches_per_epoch * epochs * seconds_per_micro_batch + counts.total_updates * seconds_per_update


def learning_rate_factor(effective_batch: int, new_effective_batch: int, rule: str) -> Fraction | Decimal:
    """What the learning rate is multiplied by when the effective batch changes.

    ``"linear"``: E' / E; ``"square-root"``: sqrt(E' / E); ``"none"``: 1. A ratio without unit.
    Source: linear for SGD, https://arxiv.org/abs/1706.02677; square root for adaptive optimizers, https://arxiv.org/abs/2205.10287.

    >>> learning_rate_factor(256, 1024, "linear"), learning_rate_factor(256, 1024, "square-root")
    (Fraction(4, 1), Fraction(2, 1))
    """
    ratio = Fraction(new_effective_batch, effective_batch)
    if rule == "none":
        return Fraction(1)
    if rule == "linear":
        return ratio
    root = Fraction(math.isqrt(ratio.numerator), math.isqrt(ratio.denominator))
    return root if root**2 == ratio else _EXACT.sqrt(_decimal(ratio))


def rescaled_beta(beta: Fraction, effective_batch: int, new_effective_batch: int) -> Decimal:
    """The decay of a moving average that keeps its half-life in samples.

    beta' = beta^(E' / E), a ratio between 0 and 1. Source: https://arxiv.org/abs/2507.07101, section on the half-life of beta2.

    >>> round(rescaled_beta(Fraction(95, 100), 512, 1), 8)
    Decimal('0.99989982')
    """
    return _EXACT.power(_decimal(beta), _decimal(Fraction(new_effective_batch, effective_batch)))


def rescaled_updates(count: int, effective_batch: int, new_effective_batch: int) -> int:
    """Updates that see at least as many samples as before.

    ceil(U E / E'), a count.

    >>> rescaled_updates(1000, 512, 256), rescaled_updates(1000, 512, 768)
    (2000, 667)
    """
    return math.ceil(Fraction(count * effective_batch, new_effective_batch))


def _decimal(number: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))
