"""Every fact of the coverage list and every common claim is told on a page, in both languages, with its figures."""

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from gradaccum.families import FAMILIES
from paths import DOCS, ROOT

GOLDEN = ROOT / "tests" / "golden"
HEADING = re.compile("h[1-6]")


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


ROWS = [entry["row"] for entry in table(GOLDEN / "coverage.csv")]
CLAIMS = {
    fact["id"]: fact["claim"] for fact in map(json.loads, (GOLDEN / "facts.jsonl").read_text(encoding="utf-8").splitlines())
}
COVERAGE = table(DOCS / "coverage.csv")
FACTS = table(DOCS / "facts.csv")
PLACES = [(f"{place.get('row') or place['id']} {place['page']}#{place['anchor']}", place) for place in (*COVERAGE, *FACTS)]


def built(page, language):
    """Where the built site has the page."""
    name = Path(page).with_suffix("")
    return Path(language, name.parent, "" if name.name == "index" else name.name, "index.html")


def section(page, anchor):
    """The heading with that id and what stands under it, up to the next heading of its level or above; None without one."""
    heading = page.find(HEADING, id=anchor)
    if heading is None:
        return None
    pieces = [heading.get_text(" ")]
    for element in heading.find_next_siblings():
        if HEADING.fullmatch(element.name) and element.name <= heading.name:
            break
        pieces.append(element.get_text(" "))
    return " ".join(pieces)


def missing_figures(text, figures):
    """Those of the figures that the text does not hold as a number of their own."""
    return [one for one in figures.split() if not re.search(rf"(?<![\d.,]){re.escape(one)}(?!\d|[.,]\d)", text)]


def test_every_row_of_the_coverage_list_has_a_place():
    assert sorted({place["row"] for place in COVERAGE}) == sorted(ROWS)
    assert len(ROWS) == len(set(ROWS)) == 35


def test_every_claim_has_a_place():
    assert sorted({place["id"] for place in FACTS}) == sorted(CLAIMS)
    assert len(CLAIMS) >= 77


@pytest.mark.parametrize("places", [COVERAGE, FACTS], ids=["coverage", "facts"])
def test_no_place_is_listed_twice(places):
    counted = Counter((place.get("row") or place["id"], place["page"], place["anchor"]) for place in places)
    assert [place for place, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("place", [place for _, place in PLACES], ids=[name for name, _ in PLACES])
def test_place_is_there_and_tells_the_figures(language_pages, language, place):
    text = section(language_pages[built(place["page"], language)], place["anchor"])
    assert text is not None, "no such heading"
    assert len(text) > 80
    assert missing_figures(text, place.get("figures") or "") == []


# The checks themselves.

PAGE = '<h2 id="a">One</h2><p>The gain is 2.64 times.</p><h3 id="b">Part</h3><p>or 1,024</p><h2 id="c">Two</h2><p>16</p>'


@pytest.mark.parametrize(
    "anchor, text", [("a", "One The gain is 2.64 times. Part or 1,024"), ("b", "Part or 1,024"), ("x", None)]
)
def test_section_ends_at_the_next_heading_of_its_level(anchor, text):
    assert section(BeautifulSoup(PAGE, "lxml"), anchor) == text


@pytest.mark.parametrize(
    "figures, missing", [("2.64 1,024", []), ("2.6", ["2.6"]), ("64", ["64"]), ("024", ["024"]), ("2.64 7", ["7"])]
)
def test_a_missing_figure_is_found(figures, missing):
    assert missing_figures("The gain is 2.64 times, or 1,024.", figures) == missing


@pytest.mark.parametrize("page, path", [("index.md", "ar/index.html"), ("learn/faq.md", "ar/learn/faq/index.html")])
def test_built_path(page, path):
    assert built(page, "ar") == Path(path)


@pytest.mark.parametrize("language", ["ar", "en"])
def test_the_page_names_every_family(language):
    text = (DOCS / language / "calculators" / "training-memory.md").read_text(encoding="utf-8")
    [line] = [line for line in text.splitlines() if "`gpt_neox`" in line]
    assert [name for name in re.findall("`(.+?)`", line) if name != "model_type"] == list(FAMILIES)
