"""The glossary page, made from ``docs/glossary.csv``."""

from __future__ import annotations

import csv
import re
from pathlib import PurePosixPath

from page_parts.answers import PageError
from paths import DOCS

GLOSSARY = DOCS / "glossary.csv"
HERE = PurePosixPath("learn")
# Vowel marks, stretching and the article do not count when Arabic words are put in order.
UNSORTED = re.compile("[\u064b-\u0652\u0640]|^ال")
LATIN = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?: [A-Za-z][A-Za-z0-9-]*)*")


def entries() -> list[dict[str, str]]:
    """Every row of the file."""
    with GLOSSARY.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def anchor_of(term: str) -> str:
    """The id of a term on the glossary page.

    >>> anchor_of("sharding (ZeRO / FSDP)")
    'term-sharding-zero-fsdp'
    """
    return "term-" + "-".join(re.findall(r"[a-z0-9]+", term.lower()))


def glossary_list(group: str, language: str) -> str:
    """One group of terms as a Markdown definition list, each in both languages, with its meaning and where it is explained."""
    found = [entry for entry in entries() if entry["group"] == group]
    if not found:
        raise PageError(f"no term of docs/glossary.csv is in the group {group!r}")
    found.sort(key=lambda entry: UNSORTED.sub("", entry[language]).lower())
    return "\n\n".join(item(entry, language) for entry in found)


def item(entry: dict[str, str], language: str) -> str:
    """One term. Other pages link to its id, which is the same in both languages."""
    other = {"ar": "en", "en": "ar"}[language]
    meaning = entry[f"short_{language}"]
    direction = {"ar": "rtl", "en": "ltr"}[other]
    # The Arabic column names the English term itself where Arabic has none of its own.
    own = re.sub(r" \([A-Za-z-]+\)$", "", entry["ar"])
    shown = {"en": entry["en"], "ar": own}
    folder, _, name = entry["page"].partition("/")
    target = name if folder == HERE.name else f"../{entry['page']}"
    if language == "ar":
        meaning = LATIN.sub(lambda match: f'<bdi lang="en">{match[0]}</bdi>', meaning)
    else:
        meaning = meaning[:1].upper() + meaning[1:]
    term = f'**[{shown[language]}]({target})** · <bdi lang="{other}" dir="{direction}">{shown[other]}</bdi>'
    return f'<span id="{anchor_of(entry["en"])}"></span>{term}\n:   {meaning}.'
