"""The result as text: a line as soon as a claim is judged, and a table at the end."""

from __future__ import annotations

import unicodedata
from typing import Any

from bench.claims import CLAIMS
from bench.wording import shown, statement, verdict, why, words

NAME_WIDTH = max(map(len, CLAIMS))


def line(name: str, document: dict[str, Any], language: str) -> str:
    """One claim in one line."""
    entry = document["claims"][name]
    said = f"{name:{NAME_WIDTH}}  {padded(verdict(name, document, language), 13)}"
    parts = [f"{value} {limit}".strip() for _, value, limit in shown(CLAIMS[name], entry, document["device"]["kind"]) if limit]
    return "  ".join(filter(None, [said, "; ".join(parts), why(entry, language)])).rstrip()


def whole(document: dict[str, Any], language: str) -> str:
    """Every claim with its figures, and what was run."""
    said = words(language)
    versions = ", ".join(f"{name} {number}" for name, number in document["versions"].items())
    lines = ["", f"{document['device']['name']}, {said['ui.ranks']}: {document['ranks']}; {versions}"]
    lines += [said[f"state.{document['state']}"], ""]
    for name, entry in document["claims"].items():
        lines.append(f"{padded(verdict(name, document, language), 13)} {statement(name, language)}")
        for figure, value, limit in shown(CLAIMS[name], entry, document["device"]["kind"]):
            lines.append(f"{'':14}{said[f'figure.{figure}']}: {value}" + (f"   {limit}" if limit else ""))
        if reason := why(entry, language):
            lines.append(f"{'':14}{reason}")
    return "\n".join(lines) + "\n"


def padded(text: str, width: int) -> str:
    """Text filled with blanks to a width; marks that stand above a letter take no place.

    >>> padded("ab", 4) + "|"
    'ab  |'
    """
    return text + " " * (width - sum(not unicodedata.combining(letter) for letter in text))
