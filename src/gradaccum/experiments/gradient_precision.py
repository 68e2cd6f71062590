"""Adding gradients into a buffer of few bits.

Doubles hold every value of the formats below, and rounding a sum of two of them first to a double and then to p <= 24 bits
gives the same as rounding it once, since 53 >= 2 p + 2 (Figueroa 1995). So the arithmetic is exact on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A binary format: significant bits, and the exponents of the smallest and largest normal number."""

    bits: int
    smallest: int
    largest: int


FORMATS = {"bf16": Format(8, -126, 127), "fp16": Format(11, -14, 15), "fp32": Format(24, -126, 127)}


def rounded(value: float, dtype: str) -> float:
    """The nearest number of the format, ties to even; infinity beyond its range.

    ``value``: a double. Source: IEEE 754, round to nearest, with gradual underflow.

    >>> rounded(257.0, "bf16"), rounded(2049.0, "fp16"), rounded(1e-8, "fp16"), rounded(70000.0, "fp16")
    (256.0, 2048.0, 0.0, inf)
    """
    # An infinity stays one, and a negative gradient of infinite size makes it no number at all.
    if not value or not math.isfinite(value):
        return value
    form = FORMATS[dtype]
    step = math.ldexp(1.0, max(math.frexp(value)[1] - 1, form.smallest) - form.bits + 1)
    near = round(value / step) * step
    return near if abs(near) < math.ldexp(1.0, form.largest + 1) else math.copysign(math.inf, value)


def running(gradients: list[float], dtype: str) -> list[float]:
    """The buffer after each gradient that is added, each sum rounded to the format.

    >>> running([1.0] * 4096, "bf16")[-1], running([1.0] * 4096, "fp32")[-1]
    (256.0, 4096.0)
    """
    buffer, held = 0.0, []
    equal = len(set(gradients)) == 1
    for gradient in gradients:
        longer = rounded(buffer + rounded(gradient, dtype), dtype)
        held.append(longer)
        if equal and longer == buffer:
            # Equal gradients that no longer move the buffer never will.
            return held + [buffer] * (len(gradients) - len(held))
        buffer = longer
    return held


def stuck_at(gradient: float, dtype: str) -> int:
    """Additions of one gradient after which the buffer no longer moves.

    For a power of two: 2^p, where p is the number of significant bits. ``dtype``: bf16 or fp16; fp32 takes millions.

    >>> stuck_at(1.0, "bf16"), stuck_at(1.0, "fp16")
    (256, 2048)
    """
    buffer, additions, gradient = 0.0, 0, rounded(gradient, dtype)
    while (longer := rounded(buffer + gradient, dtype)) != buffer:
        buffer, additions = longer, additions + 1
    return additions


def noise(index: int) -> float:
    """Numbers in [-1, 1) that look random and are the same everywhere: the golden ratio's multiples in 32 bits.

    Source: Knuth, The Art of Computer Programming 3, section 6.4, multiplicative hashing.

    >>> noise(0), round(noise(1), 3)
    (-1.0, 0.236)
    """
    return (index * 2654435769 % 2**32) / 2**31 - 1
