"""From the inputs of a request to values a calculator can use, or to every fault they have."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from gradaccum import figures, jsontext, units
from gradaccum.calculators.declaration import ANY, Calculator, Field, FieldKind, Values
from gradaccum.errors import InputError

_ROW_BREAK = re.compile(r"[\n;؛]+")
_CELL_BREAK = re.compile(r"[\s|]+")
MOST_CELLS = 4_096
"""Most cells of a table; a window of more micro-batches than that is not entered by hand."""


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt or shortened one most likely means, or None when nothing is near.

    >>> nearest_name("micro_bach", ["micro_batch", "replicas"]), nearest_name("a100", ["A10", "A100 40GB"])
    ('micro_batch', 'A100 40GB')
    """
    # A long text cannot be a misspelt name, and comparing one is slow.
    typed, folded = name[:100].casefold(), {k.casefold(): k for k in known}
    longer = [k for k in folded if typed and k.startswith(typed)]
    matches = longer or difflib.get_close_matches(typed, folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def chosen(calculator: Calculator, inputs: Mapping[str, Any]) -> Calculator:
    """The variant that the first field names; the calculator itself where it has none, or where that field is at fault."""
    if not calculator.variants or _is_blank(inputs.get(calculator.fields[0].name)):
        return calculator
    try:
        return calculator.variants[read_field(calculator.fields[0], inputs[calculator.fields[0].name])]
    except InputError:
        return calculator


def understand(calculator: Calculator, inputs: Mapping[str, Any]) -> tuple[Values, list[InputError]]:
    """The values of a request and all its faults together: unknown, missing and wrong fields, and broken rules between fields.

    A rule between fields is tried only when none of its own fields is at fault, so that no fault is reported twice.
    """
    names = [field.name for field in calculator.fields]
    errors = [unknown_name("unknown_field", name, names) for name in inputs if name not in names]
    values: dict[str, Any] = {}
    typed_units: dict[str, str] = {}
    given = []
    for field in calculator.fields:
        entered = inputs.get(field.name)
        if _is_blank(entered):
            if field.required:
                errors.append(InputError(field.name, "missing", "field"))
            elif field.default is not None:
                values[field.name] = field.default
            continue
        given.append(field.name)
        try:
            values[field.name] = read_field(field, entered)
        except InputError as error:
            errors.append(error)
        if field.kind == "size":
            typed_units[field.name] = units.typed_unit(entered)
    understood = Values(values, given, typed_units)
    return understood, errors + _broken_rules(calculator, understood, {error.field for error in errors})


def _broken_rules(calculator: Calculator, values: Values, at_fault: set[str]) -> list[InputError]:
    errors: list[InputError] = []
    for check in calculator.checks:
        if at_fault.isdisjoint(check.fields):
            try:
                check.rule(values)
            except InputError as error:
                errors.append(error)
            except ExceptionGroup as group:
                errors += [error for error in group.exceptions if isinstance(error, InputError)]
            at_fault |= {error.field for error in errors}
    return errors


def unknown_name(code: str, name: str, known: Iterable[str], field: str | None = None) -> InputError:
    """The error for a name nobody knows, with the nearest known name when there is one."""
    known = list(known)
    near = nearest_name(name, known)
    rule = "did_you_mean" if near else "known_names"
    return InputError(field or name, code, rule, value=name, nearest_name=near, known=", ".join(known))


def read_field(field: Field, entered: object) -> Any:
    """One entered value as its field's kind. Errors: ``InputError`` at the field."""
    value = READERS[field.kind](field, entered)
    _hold_bounds(field, value, entered)
    return value


def _hold_bounds(field: Field, value: Any, entered: object) -> None:
    """The range a field declares, and the size of its table."""
    cells = [cell for row in value for cell in row if cell is not None] if field.kind in ("counts", "numbers") else [value]
    if field.most_cells is not None and len(cells) > field.most_cells:
        raise InputError(field.name, "too_large", "cells", value=entered, cells=field.most_cells)
    words = {"value": entered, "least": range_end(field.least), "greatest": range_end(field.most)}
    if field.most is not None and any(cell > field.most for cell in cells):
        raise InputError(field.name, "too_large", "range", **words)
    if field.least is not None and any(cell < field.least for cell in cells):
        raise InputError(field.name, "not_positive", "range", **words)


def range_end(bound: int | Fraction | None) -> str:
    """An end of a range, as hints and forms name it.

    >>> range_end(4096), range_end(Fraction("0.9999999")), range_end(None)
    ('4,096', '0.9999999', '')
    """
    if bound is None:
        return ""
    # Every digit: an end that is rounded could be one that is refused.
    return figures.format_count(int(bound)) if bound == int(bound) else figures.format_number(bound, 15)


def _read_count(field: Field, entered: object) -> int:
    return units.read_count(entered, field.name, minimum=0 if field.zero else 1)


def _read_size(field: Field, entered: object) -> int:
    return units.read_size(entered, field.name, rounding="down" if field.budget else "up")


def _read_number(field: Field, entered: object) -> Fraction:
    number = units.read_number(entered, field.name, allow_zero=field.zero)
    if field.fraction and number > 1:
        raise InputError(field.name, "too_large", "fraction", value=entered)
    return number


def _is_blank(entered: object) -> bool:
    return entered is None or (isinstance(entered, str) and not units.plain_text(entered))


def _read_flag(field: Field, entered: object) -> bool:
    if isinstance(entered, bool):
        return entered
    if isinstance(entered, str) and units.plain_text(entered).casefold() in ("true", "false"):
        return units.plain_text(entered).casefold() == "true"
    raise InputError(field.name, "wrong_type", "flag", value=entered)


def _read_choice(field: Field, entered: object) -> str:
    if not isinstance(entered, str):
        raise InputError(field.name, "wrong_type", "choice", value=entered, known=", ".join(field.choices))
    wanted = units.plain_text(entered).casefold()
    for choice in field.choices:
        if choice.casefold() == wanted:
            return choice
    raise unknown_name("unknown_value", entered, field.choices, field.name)


def _read_object(field: Field, entered: object) -> dict[str, Any]:
    """A JSON object, or its text as it was pasted."""
    if isinstance(entered, str):
        try:
            entered = jsontext.loads(entered)
        except jsontext.MalformedError as error:
            raise InputError(field.name, "malformed", f"object_{error.rule}", **error.details) from error
    if not isinstance(entered, dict):
        raise InputError(field.name, "wrong_type", "object", value=entered)
    return {name: jsontext.writable(value) for name, value in entered.items()}


def _read_text(field: Field, entered: object) -> str:
    """A short text, of which only the blanks around it are taken away."""
    if not isinstance(entered, str):
        raise InputError(field.name, "wrong_type", "text", value=entered)
    return entered.strip()


def _read_names(field: Field, entered: object) -> str | list[str]:
    """One of the choices, or names in a list or a text that parts them with commas or blanks."""
    if isinstance(entered, str):
        entered = [word for word in re.split(r"[\s,،]+", units.plain_text(entered)) if word]
    if not isinstance(entered, list) or not entered or not all(isinstance(name, str) and name for name in entered):
        raise InputError(field.name, "wrong_type", "names", value=entered, known=", ".join(field.choices))
    if len(entered) == 1 and entered[0].casefold() in field.choices:
        return str(entered[0].casefold())
    return entered


def _read_choices(field: Field, entered: object) -> str | list[str]:
    """One choice, several in a list or a text that parts them with commas or blanks, or ``any``."""
    if isinstance(entered, str):
        entered = [word for word in re.split(r"[\s,،]+", units.plain_text(entered)) if word]
    if not isinstance(entered, list) or not entered:
        raise InputError(field.name, "wrong_type", "choice", value=entered, known=", ".join((*field.choices, ANY)))
    one = Field(field.name, "choice", choices=(*field.choices, ANY))
    chosen = list(dict.fromkeys(_read_choice(one, name) for name in entered))
    if ANY in chosen:
        return ANY
    return chosen if len(chosen) > 1 else chosen[0]


def _read_table(field: Field, entered: object) -> list[list[Any]]:
    """A list of rows, or text: a line (or ``;``) ends a row, blanks part the cells, ``-`` is an empty cell."""
    rows = _rows_of_text(entered) if isinstance(entered, str) else entered
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        raise InputError(field.name, "wrong_type", "table", value=entered)
    if sum(map(len, rows)) > MOST_CELLS:
        raise InputError(field.name, "too_large", "table", value=entered)
    return [[_read_cell(field, cell) for cell in row] for row in rows]


def _read_cell(field: Field, cell: object) -> Any:
    if field.kind == "counts":
        return units.read_count(cell, field.name, minimum=0 if field.zero else 1)
    if cell is None or cell == "-":
        return None
    return units.read_number(cell, field.name, signed=True)


def _rows_of_text(text: str) -> object:
    if text.lstrip().startswith("["):
        try:
            return jsontext.loads(text)
        except jsontext.MalformedError:
            return None
    # A comma with a blank behind it parts cells; without one it may stand between thousands.
    lines = [re.sub(r"[,،](?=\s|$)", " ", line) for line in _ROW_BREAK.split(text)]
    return [[cell for cell in _CELL_BREAK.split(line) if cell] for line in lines if line.strip()]


READERS: dict[FieldKind, Callable[[Field, object], Any]] = {
    "count": _read_count,
    "size": _read_size,
    "number": _read_number,
    "flag": _read_flag,
    "choice": _read_choice,
    "object": _read_object,
    "names": _read_names,
    "choices": _read_choices,
    "text": _read_text,
    "counts": _read_table,
    "numbers": _read_table,
}
