"""Counts, sizes, durations and plain numbers as a person reads them: the only place that writes them.

Digits are Western and units Latin in both languages; a page isolates them so that they read left to right.
"""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from gradaccum.units import BINARY_UNITS, DECIMAL_UNITS, UNITS, System


def format_count(count: int) -> str:
    """A count for a person, with separators between thousands.

    >>> format_count(1048576)
    '1,048,576'
    """
    return f"{count:,}"


def width(text: str) -> int:
    """Columns a terminal gives a text: Arabic vowel marks stand on the letter before them, isolates take no room.

    >>> width("24 GiB"), width("\u0645\u064f\u062d")
    (6, 2)
    """
    return len(text) if text.isascii() else sum(map(_takes_room, text))


@lru_cache(maxsize=1024)
def _takes_room(letter: str) -> bool:
    return not unicodedata.combining(letter) and unicodedata.category(letter) != "Cf"


def format_number(number: Fraction | Decimal | float, digits: int = 6) -> str:
    """A plain number with at most ``digits`` significant digits, without trailing zeros.

    >>> format_number(Fraction(3, 10000)), format_number(Fraction(2, 3)), format_number(2.0)
    ('0.0003', '0.666667', '2')
    """
    return _short_power(f"{float(number):.{digits}g}")


def format_grouped(number: Fraction | Decimal | float, digits: int = 6) -> str:
    """The same with separators between thousands, as counts have: for a figure that stands alone, not in a list.

    >>> format_grouped(Fraction(31_875)), format_grouped(Fraction(9_876_543_210, 10**6)), format_grouped(1e21)
    ('31,875', '9,876.54', '1e21')
    """
    return _short_power(f"{float(number):,.{digits}g}")


def _short_power(text: str) -> str:
    mantissa, mark, power = text.partition("e")
    return f"{mantissa}e{int(power)}" if mark else text


def size_in_unit(size: int, system: System) -> tuple[Fraction, str]:
    """A size and the largest unit of the system that leaves at least one of it.

    >>> size_in_unit(1536, "binary")
    (Fraction(3, 2), 'KiB')
    """
    units = {"B": 1} | BINARY_UNITS if system == "binary" else DECIMAL_UNITS
    unit = max((u for u in units if units[u] <= max(size, 1)), key=units.__getitem__)
    return Fraction(size, units[unit]), unit


def format_size(size: int, system: System = "decimal") -> str:
    """A size for a person, two decimals at most.

    >>> format_size(2_000_000_000), format_size(25_769_803_776, "binary"), format_size(1_234_567)
    ('2 GB', '24 GiB', '1.23 MB')
    """
    number, unit = size_in_unit(size, system)
    return f"{format_decimal(number)} {unit}"


def format_exact_size(size: int, unit: str) -> str:
    """A size in that unit where six decimals are enough to be exact, else in bytes.

    >>> format_exact_size(500_000_000, "GB"), format_exact_size(1_234_567, "GB"), format_exact_size(1, "GiB")
    ('0.5 GB', '1,234,567 B', '1 B')
    """
    number = Fraction(size, UNITS[unit])
    if is_rounded(number, 6):
        number, unit = Fraction(size), "B"
    return f"{format_decimal(number, 6)} {unit}"


def is_rounded(number: Fraction, places: int = 2) -> bool:
    """Whether ``places`` decimals are too few to write the number exactly."""
    return bool((number * 10**places).denominator != 1)


def format_decimal(number: Fraction, places: int = 2) -> str:
    """A number rounded to ``places`` decimals (half to even), without trailing zeros.

    >>> format_decimal(Fraction(33, 2)), format_decimal(Fraction(2))
    ('16.5', '2')
    """
    whole = round(number * 10**places)
    text = f"{whole // 10**places:,}"
    rest = f"{whole % 10**places:0{places}d}".rstrip("0")
    return f"{text}.{rest}" if rest else text


def format_duration(seconds: Fraction) -> str:
    """A duration in days, hours, minutes and seconds: the largest unit that fits and the next one, rounded to the latter.

    >>> format_duration(Fraction(5025)), format_duration(Fraction(1, 4)), format_duration(Fraction(86399))
    ('1 h 24 min', '0.25 s', '24 h')
    """
    for name, length, next_name, next_length in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if seconds >= length:
            large, small = divmod(round(seconds / next_length), length // next_length)
            return f"{large:,} {name}" + (f" {small} {next_name}" if small else "")
    return f"{format_number(seconds, 3)} s"
