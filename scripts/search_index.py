"""What the theme leaves out of the search, put in after the build.

The description of a page, which says in a reader's words what it is for, is not searched by the theme at all: it goes into the
index, and with it what else readers type when they look for the page (``docs/search/phrasings.csv``). ``docs/search/search.js``
goes in front of the theme's worker: it says how questions are read and in what order pages answer them.
"""

from __future__ import annotations

import csv
import hashlib
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from formula_text import with_formula_texts
from paths import DOCS

SOURCES = DOCS / "search"
# The order of pages is that of search.js; this is for the order of sections inside a page, where titles have 1000.
DESCRIPTION = ("description", 300.0)


def complete_search(site: Path, language: str, texts: Mapping[str, str]) -> tuple[str, str]:
    """Finish index and worker of one language; return the worker's old and new name."""
    complete_index(site, language, texts)
    return replace_worker(site / language / "assets" / "javascripts" / "workers")


def complete_index(site: Path, language: str, texts: Mapping[str, str]) -> None:
    """Add the descriptions and phrasings of the pages of one language to its index, and make its formulas readable.

    Excerpts show the text of the index, in which formulas are TeX.
    """
    isolated = {
        html.escape(tex, quote=False): f'<bdi dir="ltr">{html.escape(text, quote=False)}</bdi>' for tex, text in texts.items()
    }
    path = site / language / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    said = phrasings(language)
    for entry in index["docs"]:
        entry["text"] = with_formula_texts(entry["text"], isolated)
        if entry["location"] == page_of(entry):
            description = description_in((site / language / entry["location"] / "index.html").read_text(encoding="utf-8"))
            entry[DESCRIPTION[0]] = " ".join([description, said.pop(entry["location"], "")]).strip()
    if said:
        raise ValueError(f"phrasings.csv: no such page: {', '.join(said)}")
    index["config"]["fields"] |= {DESCRIPTION[0]: {"boost": DESCRIPTION[1]}}
    index["config"]["pipeline"] = ["stopWordFilter", "stemmer"]
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def phrasings(language: str) -> dict[str, str]:
    """By page, what readers of a language type who look for it."""
    with (SOURCES / "phrasings.csv").open(encoding="utf-8", newline="") as file:
        return {row["page"]: row["phrasings"] for row in csv.DictReader(file) if row["language"] == language}


def replace_worker(folder: Path) -> tuple[str, str]:
    """Put our part in front of the theme's worker, under a name that changes with what is in it; return old and new name."""
    [theme] = folder.glob("search.*.min.js")
    words = json.loads((SOURCES / "words.json").read_text(encoding="utf-8"))
    ours = (SOURCES / "search.js").read_text(encoding="utf-8")
    text = f"const WORDS = {json.dumps(words, ensure_ascii=False)};\n{ours}\n{theme.read_text(encoding='utf-8')}"
    text = re.sub(r"\n//# sourceMappingURL=.*\n?$", "\n", text)
    name = f"search.{hashlib.sha256(text.encode()).hexdigest()[:8]}.js"
    (folder / name).write_text(text, encoding="utf-8")
    for old in folder.glob(f"{theme.name}*"):
        old.unlink()
    return theme.name, name


def page_of(entry: dict[str, Any]) -> str:
    """The page that an entry belongs to."""
    return str(entry["location"]).partition("#")[0]


def description_in(page: str) -> str:
    """What the head of a built page says it is for."""
    found = re.search(r'<meta name="description" content="([^"]*)">', page)
    if found is None:
        raise ValueError("a page has no description, or one that is not escaped")
    return html.unescape(found[1])
