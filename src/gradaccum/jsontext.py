"""JSON as this package reads and writes it: exact numbers, no surprise, no crash whatever the text."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

LONGEST_TEXT = 1_000_000
DEEPEST = 32
_LONGEST_INTEGER = 1_000
_FARTHEST_EXPONENT = 100_000
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


class MalformedError(ValueError):
    """The text is no JSON this package reads; ``rule`` says why: syntax, too_long, too_deep or duplicate."""

    def __init__(self, rule: str, **details: object) -> None:
        super().__init__(rule)
        self.rule = rule
        self.details = details


def loads(text: object) -> Any:
    """The value a JSON text stands for; numbers with a point or exponent as ``Decimal``, NaN and infinities as float.

    Errors: ``MalformedError`` for anything else, for texts over ``LONGEST_TEXT`` characters or deeper than ``DEEPEST``,
    and for an object that names a member twice (one of the two would be lost).

    >>> loads('{"ratio": 0.1}')
    {'ratio': Decimal('0.1')}
    """
    if not isinstance(text, str):
        raise MalformedError("syntax", position=1)
    if len(text) > LONGEST_TEXT:
        raise MalformedError("too_long", longest=f"{LONGEST_TEXT:,}")
    # The decoder recurses; in WebAssembly a deep text would end the interpreter instead of raising RecursionError.
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group(), 0)
        if depth > DEEPEST:
            raise MalformedError("too_deep", deepest=DEEPEST)
    try:
        return json.loads(text, parse_int=_integer, parse_float=_decimal, object_pairs_hook=_members)
    except MalformedError:
        raise
    except ValueError as error:
        where = getattr(error, "pos", 0)
        raise MalformedError("syntax", position=where + 1) from error


def dumps(value: Any) -> str:
    """JSON text of plain values, ``Fraction`` and ``Decimal`` (as the nearest double, or an integer where it is one).

    >>> dumps({"scale": Fraction(3, 4), "factor": Fraction(2)})
    '{"scale": 0.75, "factor": 2}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    # Half of a surrogate pair can be written in JSON but not in UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def writable(value: Any) -> Any:
    """A value that JSON can give back: infinities, NaN and numbers beyond a double become their text.

    >>> writable({"limits": [0.5, float("inf")]})
    {'limits': [0.5, 'inf']}
    """
    if isinstance(value, dict):
        return {name: writable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [writable(inner) for inner in value]
    return str(value) if isinstance(value, float | Decimal) and not math.isfinite(float(value)) else value


def _integer(digits: str) -> int:
    # int() refuses more than 4,300 digits. What is cut here is far above every limit either way.
    return int(digits[:_LONGEST_INTEGER])


def _decimal(text: str) -> Decimal:
    # Decimal's own bounds differ between 64 and 32 bits (WebAssembly), and beyond them it raises.
    mantissa, mark, exponent = text.lower().partition("e")
    if mark and len(exponent.lstrip("+-0")) >= len(str(_FARTHEST_EXPONENT)):
        exponent = f"{'-' if exponent.startswith('-') else ''}{_FARTHEST_EXPONENT}"
    return Decimal(f"{mantissa}{mark}{exponent}")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise MalformedError("duplicate", name=name)
        members[name] = value
    return members


def _plain(value: object) -> int | float:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(type(value).__name__)
