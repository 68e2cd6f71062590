"""The macros of the learn pages: numbers that a shown snippet works out, and the glossary."""

import pytest

import docs_macros
from gradaccum.messages import LANGUAGES
from page_parts import glossary
from page_parts.answers import PageError
from page_parts.computed import module_of

TWO_MACHINES = {1: 2.00, 4: 0.91}


@pytest.mark.parametrize(
    "function, arguments, shown",
    [
        ("split_cost[0]", (), "0.547"),
        ("split_cost[1]", (), "1.45"),
        ("predicted", (8,), "0.728"),
        ("limit", (), "3.66"),
        ("gain", (4,), "2.2"),
    ],
)
def test_a_snippet_works_a_number_out(function, arguments, shown):
    ran = docs_macros.macros("ar")["ran"]
    assert ran("reduction_cost.py", function, TWO_MACHINES, *arguments) == f'<bdi dir="ltr">{shown}</bdi>'


def test_a_fit_goes_through_both_of_its_points():
    predicted = module_of("reduction_cost.py").predicted
    assert [round(predicted(TWO_MACHINES, steps), 12) for steps in TWO_MACHINES] == list(TWO_MACHINES.values())


def test_half_of_the_gain_comes_with_two_steps_and_three_quarters_with_four():
    snippet = module_of("reduction_cost.py")
    compute, reduction = snippet.split_cost(TWO_MACHINES)
    saved = [(snippet.predicted(TWO_MACHINES, 1) - snippet.predicted(TWO_MACHINES, a)) / reduction for a in (1, 2, 4)]
    assert saved == pytest.approx([0, 1 / 2, 3 / 4])
    assert compute > 0


FAULTS = {
    "no such snippet": ("nothing.py", "limit"),
    "no such function": ("reduction_cost.py", "limits"),
    "no function": ("reduction_cost.py", "__doc__"),
}


@pytest.mark.parametrize("name, function", FAULTS.values(), ids=FAULTS)
def test_what_cannot_run_stops_the_build(name, function):
    with pytest.raises(PageError):
        docs_macros.macros("en")["ran"](name, function)


@pytest.mark.parametrize(
    "count, unit, places, shown",
    [(1023 * 50257 * 4, "MiB", 1, "196.1 MiB"), (408944640, "GB", 2, "0.41 GB"), (3, "B", 2, "3 B")],
)
def test_a_size_in_a_unit_that_the_text_needs(count, unit, places, shown):
    assert docs_macros.macros("en")["size_in"](count, unit, places) == f'<bdi dir="ltr">{shown}</bdi>'


# The glossary


def test_every_term_says_what_it_means_in_both_languages():
    for entry in glossary.entries():
        for column in ("en", "ar", "group", "short_en", "short_ar", "page"):
            assert entry[column], (entry["en"], column)
        assert not entry["short_en"].endswith(".")
        assert not entry["short_ar"].endswith(".")


def test_terms_have_ids_of_their_own():
    ids = [glossary.anchor_of(entry["en"]) for entry in glossary.entries()]
    assert len(ids) == len(set(ids)) > 50


@pytest.mark.parametrize("language", LANGUAGES)
def test_glossary_page_lists_every_term_once(language):
    page = (glossary.DOCS / language / "learn" / "glossary.md").read_text(encoding="utf-8")
    groups = {entry["group"] for entry in glossary.entries()}
    assert {group for group in groups if f'glossary("{group}")' in page} == groups
    listed = "\n".join(docs_macros.macros(language)["glossary"](group) for group in groups)
    assert all(listed.count(f'id="{glossary.anchor_of(entry["en"])}"') == 1 for entry in glossary.entries())


def test_terms_stand_in_order_and_in_both_languages():
    english, arabic = (docs_macros.macros(language)["glossary"]("parallel") for language in ("en", "ar"))
    assert english.index("all-reduce") < english.index("context parallelism") < english.index("tensor parallelism")
    assert '<bdi lang="ar" dir="rtl">التوازي الموتري</bdi>' in english
    assert '**[التوازي الموتري](formula.md#replicas)** · <bdi lang="en" dir="ltr">tensor parallelism</bdi>' in arabic


def test_an_empty_group_stops_the_build():
    with pytest.raises(PageError):
        docs_macros.macros("en")["glossary"]("nothing")
