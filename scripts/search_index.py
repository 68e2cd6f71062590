"""What the theme leaves out of the search index, put in after the build.

The theme indexes a page section by section, so a question whose words are spread over a page finds none of its sections, and
the description of a page, which says in a reader's words what it is for, is not searched at all. Both go into the entry of the
page itself: the description of every page, and all words of a page that is about one thing.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from arabic_search import TAG, forms_of_text

# Beside the title's 1000: a word in the description counts less than one in the title, one elsewhere less again.
DESCRIPTION, WHOLE = ("description", 300.0), ("whole", 60.0)
FORMS = {"title": ("title_forms", 1000.0), "text": ("forms", 0.5)}
ABOUT_ONE_THING = "learn/pitfalls/"
WORD = re.compile(r"\w+")


def complete_index(site: Path, language: str) -> None:
    """Add the fields to the index of one language."""
    path = site / language / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    entries = index["docs"]
    texts: dict[str, list[str]] = {}
    for entry in entries:
        texts.setdefault(page_of(entry), []).append(f"{entry['title']} {entry['text']}")
    for entry in entries:
        if entry["location"] == page_of(entry):
            entry[DESCRIPTION[0]] = description_of(site / language / entry["location"] / "index.html")
            if entry["location"].startswith(ABOUT_ONE_THING) and entry["location"] != ABOUT_ONE_THING:
                entry[WHOLE[0]] = words_of(" ".join(texts[entry["location"]]))
    fields = dict([DESCRIPTION, WHOLE])
    if language == "ar":
        add_forms(entries)
        fields |= dict(FORMS.values())
    index["config"]["fields"] |= {field: {"boost": boost} for field, boost in fields.items()}
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def page_of(entry: dict[str, Any]) -> str:
    """The page that an entry belongs to."""
    return str(entry["location"]).partition("#")[0]


def description_of(page: Path) -> str:
    """What the built page's head says it is for."""
    found = re.search(r'<meta name="description" content="([^"]*)">', page.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{page}: no description, or a quotation mark in it, which the theme does not escape")
    return html.unescape(found[1])


def words_of(text: str) -> str:
    """Each word of a piece of HTML once.

    >>> words_of("<p>the loss, the <code>loss_scale</code> &amp; more")
    'loss loss_scale more the'
    """
    return " ".join(sorted(set(WORD.findall(html.unescape(TAG.sub(" ", text))))))


def add_forms(entries: list[dict[str, Any]]) -> None:
    """Other spellings of Arabic words; those of a title count as much as it does, since nobody types its vowel marks."""
    for entry in entries:
        for source, (field, _) in FORMS.items():
            entry[field] = forms_of_text(entry[source])
        for field, _ in (DESCRIPTION, WHOLE):
            if field in entry:
                entry[field] += f" {forms_of_text(entry[field])}"
