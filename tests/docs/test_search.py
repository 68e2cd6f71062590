"""The site's search, asked as people ask: every pitfall is among the first pages, in both languages.

The theme's own worker runs under Node on the index that the site was built with. A row of the table names the pages that
answer it; where a pitfall has a page of its own, that page must be among the first.
"""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from page_parts.node import run_node

HERE = Path(__file__).parent
FIRST = 3  # as many pages as a reader looks at before asking in other words

with (HERE / "search_queries.csv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))
KEYS = [f"{row['language']} {row['query']}" for row in ROWS]


@pytest.fixture(scope="session")
def first_pages(site):
    """The first pages for each query."""
    found = {}
    for language in ("en", "ar"):
        queries = [row["query"] for row in ROWS if row["language"] == language]
        answers = json.loads(run_node(HERE / "search.mjs", {"folder": str(site / language), "queries": queries}))
        pages = [list(dict.fromkeys(location.split("#")[0] for location in answer)) for answer in answers]
        found |= {f"{language} {query}": page[:FIRST] for query, page in zip(queries, pages, strict=True)}
    return found


def test_every_pitfall_is_asked_for_three_times_in_each_language():
    counted = Counter((row["topic"], row["language"]) for row in ROWS)
    topics = {row["topic"] for row in ROWS}
    assert len(topics) >= 20
    assert {key: count for key, count in counted.items() if count < 3} == {}
    assert len(counted) == 2 * len(topics)
    assert len(KEYS) == len(set(KEYS))


@pytest.mark.parametrize("row", ROWS, ids=KEYS)
def test_search_finds_the_page(site, first_pages, row):
    own = f"learn/pitfalls/{row['topic']}/"
    wanted = {own} if (site / row["language"] / own).is_dir() else set(row["pages"].split())
    found = first_pages[f"{row['language']} {row['query']}"]
    assert wanted & set(found), found


def test_every_page_of_a_pitfall_is_asked_for(site):
    pages = {path.parent.name for path in (site / "en" / "learn" / "pitfalls").glob("*/index.html")}
    assert pages <= {row["topic"] for row in ROWS}


def test_a_page_that_is_not_there_is_not_found(site):
    [found] = json.loads(run_node(HERE / "search.mjs", {"folder": str(site / "en"), "queries": ["xylophone"]}))
    assert found == []


@pytest.mark.parametrize("language", ["en", "ar"])
def test_index_holds_descriptions_and_the_words_of_pages_about_one_thing(site, language):
    index = json.loads((site / language / "search" / "search_index.json").read_text(encoding="utf-8"))
    pages = {entry["location"]: entry for entry in index["docs"] if "#" not in entry["location"]}
    assert all(entry["description"] for entry in pages.values())
    assert {location for location, entry in pages.items() if "whole" in entry} == {
        location for location in pages if location.startswith("learn/pitfalls/") and location != "learn/pitfalls/"
    }
    assert not any("description" in entry for entry in index["docs"] if "#" in entry["location"])
    assert {"title", "text", "description", "whole"} <= set(index["config"]["fields"])
    assert ("title_forms" in index["config"]["fields"]) == (language == "ar")
