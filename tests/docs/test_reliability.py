"""The reliability page: every result has its provenance, and stands on the page as it was written down."""

import json
from collections import Counter
from pathlib import Path

import pytest

import record_drills
from gradaccum import figures
from page_parts import reliability
from page_parts.answers import PageError
from paths import RELIABILITY, ROOT

RESULTS = sorted(RELIABILITY.glob("*.json"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_says_how_it_was_got(path):
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found.get("measure", found.get("name")) == path.stem
    assert "date" in found
    assert {"commit", "command"} <= set(found) or {"source", "gradaccum", "python", "seed"} <= set(found)
    assert not found.get("source", "").endswith("-changed")


def expected(value, name):
    if name.endswith("bytes"):
        return figures.format_size(value, "binary")
    return f"{value:,}" if isinstance(value, int) else value


def test_every_measure_has_a_result():
    assert {path.stem for path in RESULTS} == {*reliability.COLUMNS, *reliability.IN_TEXT}


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_its_table_holds_every_row(language_pages, path, language):
    article = language_pages[Path(language, "evidence", "reliability", "index.html")].article
    section = article.find(id=path.stem)
    assert section, f"no heading with the id {path.stem}"
    table = section.find_next("table")
    columns = reliability.COLUMNS.get(path.stem, ("drills", "passed"))
    # What a table of the page itself says in words goes before its figures.
    rows = [[cell.get_text() for cell in row.find_all("td")][-len(columns) :] for row in table.find_all("tr")[1:]]
    found = reliability.rows_of(path.stem)
    assert len(rows) == len(found)
    for shown, row in zip(rows, found, strict=True):
        for text, name in zip(shown, columns, strict=True):
            assert text == expected(row[name], name)


@pytest.mark.parametrize("measure", reliability.IN_TEXT)
def test_what_is_published_of_drills_is_what_they_are_today_and_all_passed(measure):
    found = json.loads((RELIABILITY / f"{measure}.json").read_text(encoding="utf-8"))
    assert [row["drill"] for row in found["rows"]] == list(record_drills.DRILLS[measure])
    assert [row for row in found["rows"] if row["passed"] < row["drills"]] == []
    tests = {test for several in record_drills.DRILLS[measure].values() for test in several}
    for file, _, name in (test.partition("::") for test in tests):
        assert f"def {name or 'test_'}" in (ROOT / "tests" / file).read_text(encoding="utf-8")


def test_cases_are_counted_by_row_and_a_test_that_is_gone_is_noticed():
    tried, passed = Counter({"a.py::test_b": 2, "a.py::test_bc": 1, "b.py::test_d": 3}), Counter({"a.py::test_b": 1})
    found = record_drills.counted({"one": ("a.py::test_b",), "whole": ("b.py", "a.py::test_bc")}, tried, passed)
    assert found["rows"] == [{"drill": "one", "drills": 2, "passed": 1}, {"drill": "whole", "drills": 4, "passed": 0}]
    assert found["figures"] == {"drills": 6, "passed": 1}
    with pytest.raises(ValueError, match=r"no such test: a\.py::test_e"):
        record_drills.counted({"one": ("a.py::test_b", "a.py::test_e")}, tried, passed)


def test_nothing_is_broken_in_what_is_published():
    found = json.loads((RELIABILITY / "fuzzing.json").read_text(encoding="utf-8"))
    assert found["findings"] == {}
    assert all(row["broken"] == 0 for row in found["rows"])


def test_a_measure_without_a_result_stops_the_build():
    with pytest.raises(PageError, match="no result of nothing"):
        reliability.result("nothing")
