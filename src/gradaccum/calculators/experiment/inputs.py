"""Fields of experiments: each has a default, which its form starts with, and a range small enough to run at once."""

from __future__ import annotations

from fractions import Fraction

from gradaccum.calculators.declaration import Field, Values
from gradaccum.errors import InputError

MOST_CELLS = 64
_LARGEST = Fraction(10**6)


def count(name: str, default: int, most: int, symbol: str | None = None, least: int = 1) -> Field:
    """A count within a range."""
    return Field(name, "count", symbol, default=default, example=str(default), least=least, most=most)


def number(name: str, default: str, ends: tuple[str, str], symbol: str | None = None, *, zero: bool = False) -> Field:
    """A plain number within a range; the default and both ends are written as decimals."""
    least, most = map(Fraction, ends)
    return Field(name, "number", symbol, default=Fraction(default), example=default, zero=zero, least=least, most=most)


def table(name: str, default: str, symbol: str | None = None, *, counts: bool = False, negative: bool = True) -> Field:
    """Rows of numbers, each cell within a range."""
    rows = [[Fraction(cell) for cell in row.split()] for row in default.split(";")]
    return Field(
        name,
        "counts" if counts else "numbers",
        symbol,
        default=[[int(cell) for cell in row] for row in rows] if counts else rows,
        example=default,
        zero=True,
        least=-_LARGEST if negative else Fraction(0),
        most=_LARGEST,
        most_cells=MOST_CELLS,
    )


def check_rectangle(values: Values, name: str, width: int | None = None, least: int = 1) -> None:
    """A table whose rows have one length, at least ``least`` (or exactly ``width``), and no empty cell."""
    rows = values[name]
    lengths = {len(row) for row in rows}
    if any(cell is None for row in rows for cell in row):
        raise InputError(name, "missing", "no_empty_cell", value=rows)
    if len(lengths) > 1 or (width is not None and lengths != {width}) or min(lengths) < least:
        rule = "equal_rows" if width is None and least == 1 else "row_length"
        raise InputError(name, "wrong_type", rule, value=rows, width=width or least)


def check_rows(values: Values, name: str, rows: int) -> None:
    """A table with one row for each of something."""
    if len(values[name]) != rows:
        raise InputError(name, "wrong_type", "one_row_each", value=values[name], rows=rows)
