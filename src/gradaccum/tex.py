"""Numbers as TeX, for the formulas of the worked example: exact ones after ``=``, rounded ones after an approximate sign."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from gradaccum import figures, units


def count(number: int) -> str:
    """A count; a comma alone is punctuation in TeX and would get a space behind it.

    >>> count(1048576)
    '1{,}048{,}576'
    """
    return figures.format_count(number).replace(",", "{,}")


def number(value: Fraction | Decimal) -> str:
    r"""A plain number, with a power of ten where it is very large or small.

    >>> number(Fraction(2, 100000)), number(Fraction(1, 4)), number(Fraction(31_875))
    ('2 \\cdot 10^{-5}', '0.25', '31{,}875')
    """
    mantissa, mark, power = figures.format_grouped(value).replace(",", "{,}").partition("e")
    return rf"{mantissa} \cdot 10^{{{power}}}" if mark else mantissa


def equals_number(value: Fraction | Decimal) -> str:
    r"""The relation and the number.

    >>> equals_number(Fraction(1, 4)), equals_number(Fraction(1, 3))
    ('= 0.25', '\\approx 0.333333')
    """
    exact = Fraction(value) == Fraction(figures.format_number(value))
    return f"= {number(value)}" if exact else rf"\approx {number(value)}"


def vector(components: Sequence[Fraction]) -> str:
    r"""A vector of numbers with four digits, six of them at most.

    >>> vector([Fraction(1, 3), Fraction(-2)])
    '(0.3333,\\; -2)'
    """
    shown = [figures.format_number(component, 4) for component in components[:6]]
    shown += [r"\ldots"] if len(components) > 6 else []
    return "(" + r",\; ".join(shown) + ")"


def size(value: int, unit: str) -> str:
    r"""A size a reader entered, exactly, in their own unit where it can be.

    >>> size(500_000_000, "GB")
    '0.5\\,\\text{GB}'
    """
    return _with_unit(figures.format_exact_size(value, unit))


def equals_size(value: int, system: units.System) -> str:
    r"""The relation and a size in the largest fitting unit.

    >>> equals_size(2_000_000_000, "decimal"), equals_size(1_234_567, "decimal")
    ('= 2\\,\\text{GB}', '\\approx 1.23\\,\\text{MB}')
    """
    relation = r"\approx" if figures.is_rounded(figures.size_in_unit(value, system)[0]) else "="
    return f"{relation} {_with_unit(figures.format_size(value, system))}"


def near_size(value: int, system: units.System) -> str:
    r"""A size in the largest fitting unit, without a relation: a term of a sum whose total says that it is rounded.

    >>> near_size(2_000_000_000, "decimal")
    '2\\,\\text{GB}'
    """
    return _with_unit(figures.format_size(value, system))


def _with_unit(text: str) -> str:
    amount, unit = text.split(" ")
    return rf"{amount.replace(',', '{,}')}\,\text{{{unit}}}"
