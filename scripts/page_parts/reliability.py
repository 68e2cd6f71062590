"""What the checks of docs/data/reliability measured, one JSON file each: a line about it, and a table of its rows.

A measure is shown by writing its file and naming its columns here; the words are ``reliability.COLUMN`` among the messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from gradaccum import figures
from page_parts.answers import PageError, word
from page_parts.markup import left_to_right, tag, text
from paths import RELIABILITY

COLUMNS = {
    "fuzzing": ("search", "version", "requests", "answered", "refused", "broken", "peak_memory_bytes"),
    "parity": ("python", "platform", "answers", "different"),
    "reproducible": ("builds", "files", "bytes", "differing"),
    "mutation": ("module", "mutants", "met", "killed", "argued", "open"),
}

IN_TEXT = ("network_drills", "security")
"""Measures whose rows stand in a table that the page writes itself, since what each of them tries takes a sentence."""


@cache
def result(measure: str) -> dict[str, Any]:
    """The file of a measure."""
    path = RELIABILITY / f"{measure}.json"
    if not path.exists():
        raise PageError(f"no result of {measure}: its command writes docs/data/reliability/{measure}.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def rows_of(measure: str) -> list[dict[str, Any]]:
    """The rows of a measure, or its figures as the only one."""
    found = result(measure)
    rows: list[dict[str, Any]] = found.get("rows") or [found["figures"]]
    return rows


def shown(value: object, column: str) -> str:
    """A cell: sizes with a unit, counts with separators, names as they are.

    >>> shown(20000, "requests")
    '<bdi dir="ltr">20,000</bdi>'
    """
    write: Callable[[Any], str] = figures.format_count if isinstance(value, int) else str
    return left_to_right(
        figures.format_size(value, "binary") if column.endswith("bytes") and isinstance(value, int) else write(value)
    )


def figure(measure: str, name: str, row: str = "") -> str:
    """One figure of a measure, or of one row of it by the row's ``drill``, or one of the facts about it."""
    found = result(measure)
    if row:
        return shown(next(one for one in rows_of(measure) if one["drill"] == row)[name], name)
    value = found["figures"][name] if name in found["figures"] else found[name]
    return shown(value, name)


def table(measure: str, language: str) -> str:
    """A row for each row of the measure, in the columns named above; one row of its figures where it has no rows."""
    columns = COLUMNS[measure]
    head = tag("tr", *(tag("th", text(word(f"reliability.{column}", language)), scope="col") for column in columns))
    rows = [tag("tr", *(tag("td", shown(row[column], column)) for column in columns)) for row in rows_of(measure)]
    return tag("table", tag("thead", head), tag("tbody", *rows))
