"""The way from a calculator's note to the pitfall it warns of.

``docs/data/note_pitfalls.json`` says which note belongs to which page. The built pages get the link here; the same table goes
into the page's words, from which ``result.mjs`` links the notes of later answers.
"""

from __future__ import annotations

import json
import re

from gradaccum.messages import catalogue
from paths import DOCS

NOTE = re.compile(r'<p data-note="(?P<code>\w+)">(?P<text>.*?)</p>', re.DOTALL)


def note_pitfalls() -> dict[str, str]:
    """By the code of a note, the name of the page below ``learn/pitfalls/``."""
    table: dict[str, str] = json.loads((DOCS / "data" / "note_pitfalls.json").read_text(encoding="utf-8"))
    return table


def page_words() -> dict[str, str]:
    """The table, as words of the page."""
    return {f"ui.pitfall.{code}": page for code, page in note_pitfalls().items()}


def link_notes(html: str, language: str, depth: int) -> str:
    """Put the links behind the notes of a page that lies ``depth`` folders below its language's root."""
    known = note_pitfalls()
    label = catalogue(language)["ui.about_pitfall"]

    def linked(match: re.Match[str]) -> str:
        if match["code"] not in known:
            return match[0]
        address = f"{'../' * depth}learn/pitfalls/{known[match['code']]}/"
        return f'<p data-note="{match["code"]}">{match["text"]} <a class="ga-pitfall" href="{address}">{label}</a></p>'

    return NOTE.sub(linked, html)
