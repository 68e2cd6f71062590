"""What a reader prints: the result by itself, and a page as a whole, light on paper whatever the screen shows, and nothing cut."""

import re

import pytest
from playwright.sync_api import expect

from gradaccum.calculators import CALCULATORS
from measure_site.pages import SAVING
from paths import DOCS

# Python never starts, and nothing asks for a printer.
STILL = f"{SAVING}; globalThis.print = () => {{}}"
PATHS = ["", *(f"calculators/{page.stem}/" for page in sorted((DOCS / "en" / "calculators").glob("*.md")))]
# Its files are its result: they follow, on the next page where need be.
RECIPE = "calculators/recipe/"
# A4 less its margins, in CSS pixels.
PAPER = {"width": 673, "height": 1000}
PARTS = "h1, .ga-field label, .ga-field input, .ga-output, .ga-label, .ga-value, .ga-table th, .ga-table td, .ga-source, .ga-svg text, figcaption"
COLOURS = """(parts) => [...document.querySelectorAll(parts)].filter((one) => one.checkVisibility()).map((one) => {
  const style = getComputedStyle(one);
  return [one.className.baseVal ?? one.className, style.color, style.backgroundColor, style.fill, style.borderTopColor];
})"""
# What has more inside than it shows, of all that would scroll on a screen; and what reaches over the edge of the paper.
CUT = """() => [...document.querySelectorAll('.md-content :is(pre, pre > code, .ga-table, .ga-evidence, .md-typeset__scrollwrap, .md-typeset__table)')]
  .filter((one) => one.checkVisibility() && (getComputedStyle(one).overflowY !== 'visible' && one.scrollHeight > one.clientHeight + 1
    || one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1))
  .map((one) => one.className + ': ' + one.textContent.slice(0, 60))"""


def pages_of(paper):
    return len(re.findall(rb"/Type\s*/Page\b", paper))


def test_every_calculator_is_printed():
    assert len(PATHS) == sum(not calculator.variants for calculator in CALCULATORS.values())


@pytest.mark.parametrize("path", [path for path in PATHS if path != RECIPE])
def test_a_result_fits_one_page(open_page, at_rest, language, path):
    page = open_page(f"{language}/{path}", line=STILL, color_scheme="dark")
    at_rest(page)
    page.locator("[data-action=print]").click()
    assert pages_of(page.pdf(format="A4")) == 1


def test_what_a_figure_rests_on_is_printed_with_it(open_page, language):
    """Folded or not: the time of a run comes from two durations below the fold."""
    page = open_page(f"{language}/calculators/updates/", line=STILL)
    page.locator("[data-action=print]").click()
    page.emulate_media(media="print")
    for field in ("seconds_per_micro_batch", "seconds_per_update"):
        assert page.locator(f"[name={field}]").evaluate(
            "(one) => Boolean(one.value) && one.closest('.ga-more').matches('.ga-kept')"
        )


def test_a_printed_recipe_holds_every_file(open_page, at_rest, language):
    page = open_page(f"{language}/{RECIPE}", line=STILL, viewport=PAPER)
    page.locator("[data-action=print]").click()
    page.emulate_media(media="print")
    files = page.locator(".ga-file")
    assert files.count() > 1
    for file in files.all():
        expect(file.locator(".ga-file-name")).to_be_visible()
        expect(file.locator("pre")).to_be_visible()
    at_rest(page)
    assert page.evaluate(CUT) == []
    assert pages_of(page.pdf(format="A4")) <= 3


def test_dark_is_for_the_screen(open_page, at_rest, language):
    """Paper is white, so a reader of dark pages prints what a reader of light ones prints."""
    shown, printed = [], []
    for scheme in ("light", "dark"):
        page = open_page(f"{language}/calculators/training-memory/", line=STILL, color_scheme=scheme)
        at_rest(page)
        shown.append(page.evaluate(COLOURS, PARTS))
        page.emulate_media(media="print", color_scheme=scheme)
        at_rest(page)
        printed.append(page.evaluate(COLOURS, PARTS))
    assert shown[0] != shown[1]
    assert printed[0] == printed[1]


@pytest.mark.parametrize("path", ["calculators/recipe/", "learn/pitfalls/clipping/", "evidence/benchmark/"])
def test_paper_does_not_scroll(open_page, at_rest, language, path):
    page = open_page(f"{language}/{path}", line=STILL, viewport=PAPER)
    page.emulate_media(media="print")
    at_rest(page)
    assert page.evaluate(CUT) == []
