"""axe finds nothing on any page, in either language, light and dark; and what axe cannot see."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from paths import SITE

ROOT = Path(os.environ.get("GRADACCUM_SITE", SITE))
PAGES = sorted(path.relative_to(ROOT).as_posix().removesuffix("index.html") for path in ROOT.rglob("*.html"))


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing_light_or_dark(open_page, findings, path):
    page = open_page(path, java_script_enabled=True) if path else open_page("404.html")
    assert findings(page) == []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.locator("body:not([data-md-color-scheme=default])").wait_for(state="attached")
    assert findings(page) == []


def test_there_are_pages_in_both_languages():
    assert {path.split("/")[0] for path in PAGES} >= {"ar", "en"}
    assert len(PAGES) >= 22


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_refused_form(live, findings, in_scheme, scheme):
    in_scheme(live.page, scheme)
    live.section.locator("details.ga-more > summary").click()
    live.type("micro_batch", "abc")
    live.answered("refused")
    live.page.locator("[data-action=next]").click()
    try:
        assert findings(live.page) == []
    finally:
        live.page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("path", ["", "calculators/updates/", "calculators/loss-weights/"])
def test_controls_are_large_enough_to_touch(open_page, language, path):
    page = open_page(f"{language}/{path}", viewport={"width": 360, "height": 740})
    page.evaluate("document.querySelectorAll('.ga-calculator details').forEach((one) => { one.open = true; })")
    small = page.evaluate(
        """() => [...document.querySelectorAll('.ga-calculator, .ga-stepper')]
          .flatMap((one) => [...one.querySelectorAll('button, input, select, textarea, summary')])
          .filter((one) => one.offsetParent)
          .map((one) => [one.name || one.textContent, one.getBoundingClientRect()])
          .filter(([, box]) => box.width < 24 || box.height < 24)
          .map(([name]) => name)"""
    )
    assert small == []


def test_focus_is_visible(open_page, calculator_of, language):
    calculator = calculator_of(open_page(f"{language}/"))
    calculator.control("micro_batch").focus()
    style = "(one) => getComputedStyle(one).outlineStyle + getComputedStyle(one).outlineWidth"
    assert calculator.control("micro_batch").evaluate(style) not in ("none0px", "solid0px")


def test_forced_colours_keep_the_drawings_visible(open_page):
    page = open_page("en/", forced_colors="active")
    fill = page.locator("svg:visible .ga-activations").first.evaluate("(one) => getComputedStyle(one).fill")
    assert fill not in ("none", "rgba(0, 0, 0, 0)")
    expect(page.locator("svg:visible .ga-activations").first).to_be_visible()


SPACED = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
    p { margin-block-end: 2em !important; }`);
  document.adoptedStyleSheets.push(sheet);
}"""
# Text in a box that hides what leaves it, and does not scroll: nobody could reach the rest. The drawer of a phone has its inner
# lists beside it, and each slides in when it is opened.
CLIPPED = """() => [...document.querySelectorAll('body *')].filter((one) => {
  const style = getComputedStyle(one);
  const [across, down] = [style.overflowX, style.overflowY].map((overflow) => ['hidden', 'clip'].includes(overflow));
  return one.matches(':not(input, textarea, select, .ga-unseen, .md-sidebar__scrollwrap)') && one.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})
    && one.innerText?.trim() && one.clientWidth > 1 && style.textOverflow !== 'ellipsis'
    && (across && one.scrollWidth > one.clientWidth + 1 || down && one.scrollHeight > one.clientHeight + 1);
}).map((one) => `${one.tagName} ${one.className} ${one.innerText.slice(0, 40)}`)"""


@pytest.mark.parametrize("path", ["calculators/planner/", "learn/quiz/", "learn/equivalence/"])
@pytest.mark.parametrize("width", [320, 1280])
def test_text_spaced_by_the_reader_is_never_clipped(open_page, at_rest, language, path, width):
    page = open_page(f"{language}/{path}", viewport={"width": width, "height": 900})
    page.evaluate(SPACED)
    at_rest(page)
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
