"""The matrix of frameworks: words for what was recorded, and a mark where nothing was run."""

import re

import pytest
from bs4 import BeautifulSoup

from gradaccum.recipes import FRAMEWORKS
from page_parts import frameworks
from page_parts.answers import PageError


def words(name):
    return {column: value for column, (value, _) in frameworks.row(name).items()}


# Said by the frameworks' own guides too; a probe that saw something else would be the news.
@pytest.mark.parametrize(
    "name, divides, tokens, last_window, schedule",
    [
        ("pytorch", "nothing", "no", "into_next", "updates"),
        ("trainer", "targets", "yes", "full", "updates"),
        ("accelerate", "steps", "no", "too_small", "updates"),
        ("lightning", "steps", "no", "too_small", "updates"),
        ("deepspeed", "steps", "no", "carried", "updates"),
        ("keras", "steps", "no", "carried", "micro_batches"),
        ("optax", "steps", "no", "carried", "updates"),
    ],
)
def test_recorded_numbers_become_words(name, divides, tokens, last_window, schedule):
    expected = {"divides": divides, "tokens": tokens, "last_window": last_window, "schedule": schedule}
    assert words(name) | expected == words(name)


@pytest.mark.parametrize("name, reductions", [("pytorch", "last"), ("fsdp2", "every"), ("deepspeed", "by_stage")])
def test_reductions(name, reductions):
    assert words(name)["reductions"] == reductions


def test_what_was_only_read_is_marked():
    marked = {name: [column for column, (_, run) in frameworks.row(name).items() if not run] for name in frameworks.ROWS}
    assert marked["trainer"] == []
    assert marked["deepspeed"] == ["reductions"]
    assert set(marked["torchtune"]) == set(frameworks.COLUMNS)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_framework_has_its_row_with_its_version(language):
    table = BeautifulSoup(frameworks.matrix_html(language), "lxml").table
    heads = [row.th.get_text(" ") for row in table.tbody.find_all("tr")]
    assert len(heads) == len(FRAMEWORKS)
    assert all(re.search(r"\d+\.\d+", head) for head in heads)
    assert all(len(row.find_all("td")) == len(frameworks.COLUMNS) for row in table.tbody.find_all("tr"))


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_page_and_the_package_name_the_same_version(name):
    assert FRAMEWORKS[name].version.split()[-1] == frameworks.version(name)


def test_an_unknown_framework_is_an_error():
    with pytest.raises(PageError):
        frameworks.row("composer")
