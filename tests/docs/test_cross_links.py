"""From a warning to the pitfall it means, from a pitfall to the calculator that shows its size, and both from the questions."""

import json
import re
from posixpath import join, normpath

import pytest

from gradaccum.messages import catalogue
from note_links import link_notes, note_pitfalls
from paths import DOCS

LANGUAGES = ("en", "ar")
FOLDER = DOCS / "en" / "learn" / "pitfalls"
PITFALLS = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")
CALCULATORS = sorted(path.stem for path in (DOCS / "en" / "calculators").glob("*.md"))
LINK = re.compile(r"\]\(([^)#\s]+\.md)")
# A note that warns of a way to be wrong without noticing; the others say what was assumed, or that nothing fits.
WARNS = re.compile(
    r"_(divides|reduces|last_window|counts|clips_at_one)$|^last_window|^empty_micro_batch$|^warmup_longer|buffer$"
)


def linked(page, language):
    """The pages that a page links to, from the language's root."""
    folder = page.rpartition("/")[0]
    text = (DOCS / language / page).read_text(encoding="utf-8")
    return {normpath(join(folder, target)) for target in LINK.findall(text)}


def test_every_note_that_warns_has_its_pitfall():
    codes = {key.removeprefix("note.") for key in catalogue("en") if key.startswith("note.")}
    assert set(note_pitfalls()) <= codes
    assert {code for code in codes if WARNS.search(code)} <= set(note_pitfalls())
    assert set(note_pitfalls().values()) <= set(PITFALLS)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("pitfall", PITFALLS)
def test_every_pitfall_leads_to_a_calculator(language, pitfall):
    assert any(target.startswith("calculators/") for target in linked(f"learn/pitfalls/{pitfall}.md", language))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("calculator", CALCULATORS)
def test_every_calculator_leads_to_a_pitfall(language, calculator):
    assert any(target.startswith("learn/pitfalls/") for target in linked(f"calculators/{calculator}.md", language))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", ["learn/faq.md", "learn/practice.md", "learn/pitfalls/index.md"])
def test_questions_and_practice_lead_to_every_pitfall(language, page):
    assert {f"learn/pitfalls/{name}.md" for name in PITFALLS} <= linked(page, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_notes_of_the_built_pages_are_links(language_pages, language):
    notes = [
        (path, note)
        for path, page in language_pages.items()
        if path.parts[0] == language
        for note in page.select("[data-note]")
        if note["data-note"] in note_pitfalls()
    ]
    assert notes
    for path, note in notes:
        target = normpath(join(path.parent.as_posix(), note.select_one("a.ga-pitfall")["href"]))
        assert target == f"{language}/learn/pitfalls/{note_pitfalls()[note['data-note']]}"


def test_a_note_without_a_pitfall_stays_as_it_is():
    page = '<p data-note="same_batch">Nothing.</p><p data-note="last_window_step">Small.</p>'
    assert link_notes(page, "en", 2) == (
        '<p data-note="same_batch">Nothing.</p><p data-note="last_window_step">Small. '
        '<a class="ga-pitfall" href="../../learn/pitfalls/last-window/">Read about this pitfall</a></p>'
    )


def test_pages_carry_the_table_for_later_answers(language_pages):
    for path, page in language_pages.items():
        words = json.loads(page.select_one("#ga-words").string)
        assert {f"ui.pitfall.{code}": name for code, name in note_pitfalls().items()}.items() <= words.items(), path
