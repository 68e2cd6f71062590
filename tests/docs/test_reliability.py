"""The reliability page: every result has its provenance, and stands on the page as it was written down."""

import json
from pathlib import Path

import pytest

from gradaccum import figures
from page_parts import reliability
from page_parts.answers import PageError
from paths import RELIABILITY

RESULTS = sorted(RELIABILITY.glob("*.json"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_says_how_it_was_got(path):
    found = json.loads(path.read_text(encoding="utf-8"))
    assert path.stem in reliability.COLUMNS
    assert found.get("measure", found.get("name")) == path.stem
    assert "date" in found
    assert {"commit", "command"} <= set(found) or {"source", "gradaccum", "python", "seed"} <= set(found)
    assert not found.get("source", "").endswith("-changed")


def expected(value, name):
    if name.endswith("bytes"):
        return figures.format_size(value, "binary")
    return f"{value:,}" if isinstance(value, int) else value


def test_every_measure_has_a_result():
    assert {path.stem for path in RESULTS} == set(reliability.COLUMNS)


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_its_table_holds_every_row(language_pages, path, language):
    article = language_pages[Path(language, "evidence", "reliability", "index.html")].article
    section = article.find(id=path.stem)
    assert section, f"no heading with the id {path.stem}"
    table = section.find_next("table")
    rows = [[cell.get_text() for cell in row.find_all("td")] for row in table.find_all("tr")[1:]]
    columns = reliability.COLUMNS[path.stem]
    found = reliability.rows_of(path.stem)
    assert len(rows) == len(found)
    for shown, row in zip(rows, found, strict=True):
        for text, name in zip(shown, columns, strict=True):
            assert text == expected(row[name], name)


def test_nothing_is_broken_in_what_is_published():
    found = json.loads((RELIABILITY / "fuzzing.json").read_text(encoding="utf-8"))
    assert found["findings"] == {}
    assert all(row["broken"] == 0 for row in found["rows"])


def test_a_measure_without_a_result_stops_the_build():
    with pytest.raises(PageError, match="no result of nothing"):
        reliability.result("nothing")
