"""The little vector arithmetic the experiments share: exact sums, and roots and logarithms beyond a double's precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction

Vector = Sequence[Fraction]

PLACES = 40
SMALLEST = Fraction(1, 10**400)
"""Far below what a double holds; an exact ratio much smaller has millions of digits."""

_DECIMALS = Context(prec=PLACES)
_SCALE: int = 10**PLACES


def decimal(number: Fraction) -> Decimal:
    """A fraction to 40 significant digits.

    >>> decimal(Fraction(1, 4))
    Decimal('0.25')
    """
    return _DECIMALS.divide(Decimal(number.numerator), Decimal(number.denominator))


def sqrt(number: Fraction) -> Fraction:
    """Square root: exact where it is rational, else to 40 decimals.

    >>> sqrt(Fraction(9, 4)), float(sqrt(Fraction(2)))
    (Fraction(3, 2), 1.4142135623730951)
    """
    exact = Fraction(math.isqrt(number.numerator), math.isqrt(number.denominator))
    if exact**2 == number:
        return exact
    return Fraction(math.isqrt(number.numerator * _SCALE**2 // number.denominator), _SCALE)


def ln(number: Fraction) -> Fraction:
    """Natural logarithm to 40 significant digits.

    >>> float(ln(Fraction(8)))
    2.0794415416798357
    """
    return Fraction(_DECIMALS.ln(decimal(number)))


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """A power to 40 significant digits, and never below ``SMALLEST``. ``base``: positive.

    >>> float(power(Fraction(9, 10), Fraction(1, 4))), power(Fraction(1, 2), Fraction(10**6)) == SMALLEST
    (0.9740037464252967, True)
    """
    found = _DECIMALS.power(decimal(base), decimal(exponent))
    # Its size first: turning 10^-880000 into a ratio takes seconds.
    return Fraction(found) if found.adjusted() >= -400 else SMALLEST


def total(vectors: Sequence[Vector]) -> list[Fraction]:
    """Sum of vectors of one length.

    >>> total([[1, 2], [3, 4]])
    [Fraction(4, 1), Fraction(6, 1)]
    """
    return [sum(column, Fraction(0)) for column in zip(*vectors, strict=True)]


def scaled(vector: Vector, factor: Fraction) -> list[Fraction]:
    """A vector times a number.

    >>> scaled([Fraction(2), Fraction(4)], Fraction(1, 2))
    [Fraction(1, 1), Fraction(2, 1)]
    """
    return [factor * component for component in vector]


def mean(vectors: Sequence[Vector]) -> list[Fraction]:
    """Mean of vectors of one length.

    >>> mean([[Fraction(2), Fraction(0)], [Fraction(0), Fraction(2)]])
    [Fraction(1, 1), Fraction(1, 1)]
    """
    return scaled(total(vectors), Fraction(1, len(vectors)))


def norm(vector: Vector) -> Fraction:
    """Length of a vector.

    >>> norm([Fraction(3), Fraction(4)])
    Fraction(5, 1)
    """
    return sqrt(sum((component**2 for component in vector), Fraction(0)))


def relative_error(wrong: Vector, right: Vector) -> Fraction | None:
    """Length of the difference over the length of what is right; None where that is zero.

    |w - r| / |r|, a ratio.

    >>> relative_error([Fraction(3), Fraction(0)], [Fraction(2), Fraction(0)])
    Fraction(1, 2)
    """
    length = norm(right)
    return norm([w - r for w, r in zip(wrong, right, strict=True)]) / length if length else None


def cosine(wrong: Vector, right: Vector) -> Fraction | None:
    """Cosine of the angle between two vectors: 1 for the same direction; None where one of them is zero.

    >>> cosine([Fraction(1), Fraction(0)], [Fraction(0), Fraction(3)])
    Fraction(0, 1)
    """
    lengths = norm(wrong) * norm(right)
    product = sum((w * r for w, r in zip(wrong, right, strict=True)), Fraction(0))
    return product / lengths if lengths else None


def plane(vector: Vector) -> tuple[Fraction, Fraction]:
    """The first two components, which can be drawn; a single number is an arrow along the first axis.

    >>> plane([Fraction(1)])
    (Fraction(1, 1), Fraction(0, 1))
    """
    x, y, *_ = [*vector, Fraction(0)]
    return x, y
