"""Counts, sizes and plain numbers: the only place that reads them. ``figures`` writes them.

Everything is exact: counts and bytes are integers, other numbers are ``Fraction``. Floats appear only in what a person sees.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from gradaccum.errors import InputError

System = Literal["binary", "decimal"]
"""The two families of units: steps of 1024 (GiB) and of 1000 (GB)."""

LIMIT = 10**18
"""Largest count and largest size in bytes that is accepted (an exabyte)."""

SMALLEST, LARGEST = Fraction(1, 10**30), Fraction(10**30)
"""Bounds of a plain number other than zero, so that every answer fits a double."""

DECIMAL_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
BINARY_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
UNITS = DECIMAL_UNITS | BINARY_UNITS
ARABIC_UNITS = {
    "بايت": "B",
    "كيلوبايت": "kB",
    "ميغابايت": "MB",
    "ميجابايت": "MB",
    "غيغابايت": "GB",
    "جيجابايت": "GB",
    "تيرابايت": "TB",
}
# "Gb" is a gigabit, so a unit is matched whole: as written here, all small or all capital, never by folding its case.
SPELLINGS = {spelling: unit for unit in UNITS for spelling in (unit, unit.lower(), unit.upper())} | ARABIC_UNITS

# Arabic-Indic and extended (Persian) digits, the Arabic decimal point, the typographic minus.
_TO_ASCII = {ord(c): str(i % 10) for i, c in enumerate("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹")} | {ord("٫"): ".", ord("−"): "-"}
# Marks that steer the direction of text and spaces that do not break: they come along when a figure is copied from a page.
_INVISIBLE = dict.fromkeys(map(ord, "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"))
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:([,٬_])\d{3})(?:\1\d{3})*|\d+)?(?:\.\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?[1-9]\d*", re.ASCII)
_EXPONENT = re.compile(r"[eE][+-]?\d{1,4}", re.ASCII)
_LONGEST_TEXT = 400


def plain_text(text: str) -> str:
    """Text with ASCII digits and without invisible marks or surrounding blanks.

    >>> plain_text(" ٠٫٥ GB ")
    '0.5 GB'
    """
    return text.translate(_INVISIBLE).translate(_TO_ASCII).replace("\u00a0", " ").strip()


def read_number(value: object, field: str, *, allow_zero: bool = False, signed: bool = False) -> Fraction:
    """A plain number, read as the decimal that was written: ``0.1`` is exactly one tenth.

    ``value``: int, Decimal, float or text (an exponent as in ``3e-4`` is allowed). Without unit.
    Errors: ``wrong_type``, ``not_finite``, ``not_positive``, ``too_large``.

    >>> read_number("3e-4", "learning_rate")
    Fraction(3, 10000)
    """
    number = _fraction(value, field, "number", exponent=True)
    lowest_excluded = number < 0 if allow_zero else number <= 0
    if lowest_excluded and not signed:
        raise InputError(field, "not_positive", "number_or_zero" if allow_zero else "number", value=value)
    if number and abs(number) < SMALLEST:
        raise InputError(field, "not_positive", "number_too_small", value=value)
    if abs(number) > LARGEST:
        raise InputError(field, "too_large", "number", value=value)
    return number


def read_count(value: object, field: str, *, minimum: int = 1) -> int:
    """A whole number of things, from ``minimum`` to ``LIMIT``.

    ``value``: int, a whole Decimal or float, or text in Western or Arabic-Indic digits; ``,``, ``٬`` and ``_`` may stand
    between thousands.
    Errors: ``wrong_type``, ``not_finite``, ``not_positive``, ``too_large``.

    >>> read_count("١٬٠٢٤", "micro_batch"), read_count(2.0, "micro_batch")
    (1024, 2)
    """
    number = _fraction(value, field, "count")
    if number < minimum:
        raise InputError(field, "not_positive", "count" if minimum else "count_or_zero", value=value)
    if number > LIMIT:
        raise InputError(field, "too_large", "count", value=value)
    if number.denominator != 1:
        raise InputError(field, "wrong_type", "count", value=value)
    return number.numerator


def read_size(value: object, field: str, *, rounding: Literal["up", "down"] = "up") -> int:
    """A size in whole bytes, at least 1 and at most ``LIMIT``.

    ``value``: a whole number of bytes, or text with a unit: ``"0.5 GB"`` is decimal, ``"24 GiB"`` binary.
    ``rounding``: what becomes of part of a byte: ``"up"`` for a need, ``"down"`` for a budget.
    Errors: ``wrong_type``, ``not_finite``, ``not_positive``, ``too_large``, ``unit_missing``, ``unknown_value``.

    >>> read_size("0.5 GB", "activation_per_sample"), read_size("٢٤ GiB", "memory_budget")
    (500000000, 25769803776)
    """
    if isinstance(value, str):
        number = _number_with_unit(value, field)
    else:
        number = _fraction(value, field, "size")
        if number.denominator != 1:
            raise InputError(field, "wrong_type", "size_bytes", value=value)
    if number <= 0:
        raise InputError(field, "not_positive", "size", value=value)
    size = math.ceil(number) if rounding == "up" else math.floor(number)
    if size < 1:
        raise InputError(field, "not_positive", "size", value=value)
    if size > LIMIT:
        raise InputError(field, "too_large", "size", value=value)
    return size


def typed_unit(entered: object) -> str:
    """The unit a size was written in, so that the answer can use the reader's own; bytes for a bare number.

    >>> typed_unit("24 GiB"), typed_unit("0.5 gb"), typed_unit(2304)
    ('GiB', 'GB', 'B')
    """
    match = re.search(r"[^\W\d_]+$", plain_text(entered)) if isinstance(entered, str) else None
    return SPELLINGS.get(match.group(), "B") if match else "B"


def system_of(unit: str) -> System:
    """The family a unit belongs to.

    >>> system_of("GiB"), system_of("B")
    ('binary', 'decimal')
    """
    return "binary" if unit in BINARY_UNITS else "decimal"


def _number_with_unit(text: str, field: str) -> Fraction:
    plain = plain_text(text)
    match = _NUMBER.match(plain)
    if match is None or not any(c.isdigit() for c in match.group()):
        raise InputError(field, "wrong_type", "size", value=text)
    unit = plain[match.end() :].strip()
    if not unit:
        raise InputError(field, "unit_missing", "size", value=text)
    if not (unit.isalpha()):
        raise InputError(field, "wrong_type", "size", value=text)
    if unit not in SPELLINGS:
        raise InputError(field, "unknown_value", "unit", value=text, unit=unit)
    return _fraction(match.group(), field, "size") * UNITS[SPELLINGS[unit]]


def _fraction(value: object, field: str, rule: str, *, exponent: bool = False) -> Fraction:
    """The exact value; ``bool`` is refused although Python counts it among the integers."""
    entered = value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise InputError(field, "wrong_type", rule, value=value)
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, str):
        value = _decimal(value, field, rule, exponent=exponent)
    elif isinstance(value, float):
        # repr gives the shortest decimal that means this double: 0.1 is one tenth, as the reader wrote it.
        value = Decimal(repr(value))
    if not value.is_finite():
        raise InputError(field, "not_finite", rule, value=value)
    # A short text such as 1e-999999999 would become an integer of a billion digits.
    if value and value.adjusted() > _LONGEST_TEXT:
        raise InputError(field, "too_large" if value > 0 else "not_positive", rule, value=entered)
    exponent_of_ten = value.as_tuple().exponent
    if isinstance(exponent_of_ten, int) and exponent_of_ten < -2 * _LONGEST_TEXT:
        raise InputError(field, "wrong_type", rule, value=entered)
    return Fraction(value)


def _decimal(text: str, field: str, rule: str, *, exponent: bool) -> Decimal:
    """The number a text writes; a whole one of too many digits to read is still known to be too large."""
    plain = plain_text(text)
    number, match = plain, _NUMBER.match(plain)
    if exponent and match is not None and _EXPONENT.fullmatch(plain[match.end() :]):
        number = match.group()
    long = len(plain) > _LONGEST_TEXT
    if long and _WHOLE.fullmatch(plain):
        raise InputError(field, "not_positive" if plain.startswith("-") else "too_large", rule, value=text)
    if long or not _NUMBER.fullmatch(number) or not any(c.isdigit() for c in number):
        raise InputError(field, "wrong_type", rule, value=text)
    return Decimal(re.sub("[,٬_]", "", plain))
