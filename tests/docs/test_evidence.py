"""The accuracy page: its tables hold every row and every cell, and its sentences the same figures."""

import re
from pathlib import Path
from string import Formatter

import pytest

from evidence import cells as recorded
from evidence import single
from evidence.cells import cells, compared, recordings
from evidence.measured import rows
from evidence.predictions import GROUPS, in_group, predictions, summary
from evidence.tables import LETTERS, share, worded
from evidence.words import catalogue, figures_in_words, say
from gradaccum.messages import LANGUAGES
from gradaccum.training import PHASES
from paths import ROOT

BOTH = pytest.mark.parametrize("language", LANGUAGES)


IN_BOTH = pytest.mark.parametrize("language", LANGUAGES, indirect=True)


@pytest.fixture
def language(request):
    return request.param


@pytest.fixture
def article(language_pages, language):
    return language_pages[Path(language, "evidence", "accuracy", "index.html")].article


def folded(article):
    return {box.summary.get_text(): box for box in article.find_all("details")}


@BOTH
@pytest.mark.parametrize("group", GROUPS)
def test_page_has_every_published_row(article, language, group):
    title = say("rows_of", language, kind=say(f"group.{group}", language), count=len(in_group(group)))
    lines = [line for line in folded(article)[title].tbody.find_parent("table").select("tbody tr") if line.td]
    assert len(lines) == len(in_group(group))
    shown = [line.find_all("td")[0].get_text() for line in lines]
    assert shown == [found.row.model for found in in_group(group)]


@BOTH
def test_page_has_every_cell(article, language):
    boxes = folded(article)
    found = 0
    for model in dict.fromkeys(cell.model for cell in cells()):
        own = [cell for cell in cells() if cell.model == model]
        box = boxes[say("cells_of", language, model=model, cells=len(own))]
        assert len(box.select("tbody tr")) == len(own)
        found += len(own)
    assert found == len(cells()) > 1000


@IN_BOTH
def test_every_published_figure_and_error_is_shown(article):
    shown = article.get_text()
    for found in predictions():
        assert found.row.published or found.row.measured_gib in shown
        assert found.error is None or share(found.error, signed=True) in shown


@IN_BOTH
def test_every_letter_leads_to_its_words(article):
    links = {link["href"] for link in article.select(".ga-rows a")}
    ids = {entry["id"] for entry in article.select(".ga-whys li")}
    assert links == {f"#{ident}" for ident in ids}
    assert len(set(LETTERS.values())) == len(LETTERS)


@BOTH
def test_sentences_and_table_say_the_same(article, language):
    opening = article.find(id="accuracy").find_next("ul").get_text()
    found = summary("allocated")
    for figure in (share(found.median), share(found.nine_in_ten), f"{len(rows())}", f"{len(cells()):,}"):
        assert figure in opening
    line = next(line for line in article.select("table tbody tr") if line.td.get_text() == say("group.allocated", language))
    assert [cell.get_text() for cell in line.find_all("td")[1:5]] == [
        str(len(in_group("allocated"))),
        str(found.count),
        share(found.median),
        share(found.nine_in_ten),
    ]


def test_every_word_is_in_both_languages_with_the_same_places():
    for key, texts in catalogue().items():
        assert list(texts) == ["en", "ar"], key
        places = [sorted(name for _, name, _, _ in Formatter().parse(text) if name) for text in texts.values()]
        assert places[0] == places[1], key


def test_no_word_is_left_without_use():
    used = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "scripts" / "evidence").glob("*.py"))
    tools = (ROOT / "docs" / "data" / "calculators.csv").read_text(encoding="utf-8")
    for key in catalogue():
        assert re.search(rf"\b{key.rpartition('.')[2]}\b", f"{used} {tools} {PHASES}"), key


def test_figures_in_words_come_from_the_code():
    assert figures_in_words()["context"] == "1.34 GB"


@pytest.mark.parametrize(
    "name", ["allocated.count", "unstated.rows", "reserved.low", "allocated.plain_median", *single.FIGURES]
)
def test_single_figures(name):
    assert re.search(r"\d", single.figure(name))


@pytest.mark.parametrize("name", ["context.median", "nothing.count", "allocated.mean"])
def test_a_figure_that_is_not_there_stops_the_build(name):
    with pytest.raises((KeyError, AttributeError)):
        single.figure(name)


@pytest.mark.parametrize(
    "part, signed, shown",
    [(0.0123, False, "1.2 %"), (-0.0123, True, "−1.2 %"), (0.5, True, "+50.0 %"), (-0.0001, True, "0.0 %")],
)
def test_shares(part, signed, shown):
    assert share(part, signed=signed) == shown


@pytest.mark.parametrize(
    "words, shown",
    [
        ("مع b = 2 وs = 512، ثم", 'مع <bdi dir="ltr">b = 2</bdi> و<bdi dir="ltr">s = 512</bdi>، ثم'),
        ("حذف (dropout): أقنعة", 'حذف (<bdi dir="ltr">dropout</bdi>): أقنعة'),
    ],
)
def test_latin_parts_of_arabic_keep_their_order(words, shown):
    assert worded(words, "ar") == shown
    assert worded("b < 2", "en") == "b &lt; 2"


def test_kept_bytes_agree_in_every_cell():
    assert {cell.difference for cell in cells()} == {0}


@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.stem)
def test_a_kept_comparison_is_the_one_made_now(path):
    model, cell = next(recorded.recorded(path))
    assert compared(model, cell) in cells()


def test_a_difference_would_be_seen():
    model, cell = next(recorded.recorded(recordings()[0]))
    wrong = cell | {"saved": {point: size + 1 for point, size in cell["saved"].items()}}
    assert compared(model, wrong).difference == 1


def test_the_kept_comparison_depends_on_the_tape_and_not_on_the_faces():
    names = {path.name for path in recorded.needed()}
    assert {"tape.py", "operations.py", "llama.py", "models.json", "recording-sample.json", "cells.py"} <= names
    assert names.isdisjoint({"api.py", "view.py", "cli.py", "training_memory.py"})
