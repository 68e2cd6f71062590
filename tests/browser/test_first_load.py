"""What a first visit fetches, and what it leaves for later."""

import re

import pytest
from playwright.sync_api import expect

from measure_site import weight
from measure_site.pages import KINDS, SAVING
from measure_site.server import Server
from page_parts.site import GOALS

# What is called a good score of cumulative layout shift ends at 0.1; text that breaks anew is far above this.
MOST_MOVED = 0.02
WATCHED = (
    "globalThis.moved = 0; new PerformanceObserver((list) => { for (const { value } of list.getEntries()) moved += value; })"
    ".observe({ type: 'layout-shift', buffered: true })"
)
# Where the parts of a page stand, also far below what the browser counts.
PLACES = "[...document.querySelectorAll('.md-content :is(h2, h3, .ga-steps)')].map((one) => one.getBoundingClientRect().top + scrollY)"
PIXELS = 4
QUERY = {"ar": "الدفعة", "en": "batch"}


@pytest.fixture(scope="module")
def packed():
    """The site as it is published, with compressed texts."""
    with Server() as server:
        yield server.address


@pytest.mark.parametrize("kind", ["home", "calculator", "pitfall"])
def test_first_visit_keeps_to_its_weight(browser, packed, language, kind):
    found = weight.load(browser, f"{packed}{language}/{KINDS[kind]}")
    assert found["bytes"] <= GOALS["weight"], found["by_kind"]
    assert found["render_blocking"] == ["all.css"]


def of_index(page):
    return [url for url in page.guard.asked if url.endswith("search_index.json")]


@pytest.mark.parametrize("turn", ["click", "key"])
def test_search_index_waits_until_the_reader_turns_to_the_search(open_page, language, turn):
    page = open_page(f"{language}/learn/memory/")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    assert of_index(page) == []
    if turn == "click":
        page.locator(".md-search__input").click()
    else:
        page.keyboard.press("/")
    page.keyboard.type(QUERY[language])
    expect(page.locator(".md-search-result__item").first).to_be_visible()
    assert len(of_index(page)) == 1


def test_search_by_address_needs_no_touch(open_page, language):
    page = open_page(f"{language}/?q={QUERY[language]}")
    expect(page.locator(".md-search-result__item").first).to_be_visible()


def test_fonts_come_in_the_parts_that_hold_what_the_page_says(open_page, language):
    page = open_page(f"{language}/learn/pitfalls/token-normalisation/")
    page.evaluate("document.fonts.ready")
    fonts = {url.rsplit("/", 1)[1] for url in page.guard.asked if url.endswith(".woff2")}
    assert fonts
    assert {font for font in fonts if ".core." not in font} == set()


def test_page_shows_a_character_that_no_part_holds(open_page):
    page = open_page("ar/learn/memory/")
    with page.expect_request(re.compile(r"arabic-arabic-400-normal\.woff2$")):
        page.locator(".md-content p").first.evaluate("(paragraph) => paragraph.append('پگچ')")


def test_dark_device_is_met_in_the_dark_before_the_theme_starts(browser, packed, language):
    context = browser.new_context(color_scheme="dark", service_workers="block")
    context.route("**/bundle.*.js", lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{packed}{language}/")
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    context.close()


def test_fonts_of_text_are_asked_for_first_and_never_move_it(browser, packed, language):
    context = browser.new_context(service_workers="block", viewport={"width": 412, "height": 823})
    late = []
    context.route("**/ibm-plex-*.woff2", lambda route: late.append(route))  # noqa: PLW0108 - Playwright looks at its parameters
    context.add_init_script(WATCHED)
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[1]))
    page.goto(f"{packed}{language}/learn/memory/", wait_until="domcontentloaded")
    page.wait_for_timeout(1000)
    for route in late:
        route.continue_()
    page.wait_for_timeout(1000)
    others = "sans-latin" if language == "ar" else "arabic-latin"
    # The Latin letters of the other language would be fetched besides, were they next in line for those that do not come.
    assert [name for name in asked if name.startswith("ibm-plex") and others in name] == []
    assert page.evaluate("globalThis.moved") < MOST_MOVED
    context.close()


@pytest.mark.parametrize("path", ["", "learn/quiz/", "calculators/planner/"])
def test_nothing_moves_when_the_scripts_come(open_page, language, path):
    # Without fonts, which come late here and are shown all the same: what they move is none of the scripts' doing.
    page = open_page(
        f"{language}/{path}", line=f"{SAVING}; {WATCHED}", without="**/*.woff2", viewport={"width": 412, "height": 823}
    )
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)
    assert page.evaluate("globalThis.moved") < MOST_MOVED
    alive = page.evaluate(PLACES)
    page.route("**/js/*.mjs", lambda route: route.abort())
    page.reload()
    printed = page.evaluate(PLACES)
    assert len(printed) == len(alive) >= 5
    assert [(one, other) for one, other in zip(printed, alive, strict=True) if abs(one - other) > PIXELS] == []


TYPED_EARLY = """document.addEventListener('readystatechange', () => {
  if (document.readyState !== 'interactive') return;
  globalThis.scriptsCame = Boolean(globalThis.document$);
  document.querySelector('[name=replicas]').value = '4';
});"""


def test_what_was_typed_before_the_scripts_came_is_answered(open_page, calculator_of, language):
    """Between the last line of the HTML and the first script nothing listens to the form."""
    page = open_page(f"{language}/", line=TYPED_EARLY)
    assert page.evaluate("scriptsCame") is False
    calculator_of(page).shows(effective_batch="128", replicas="4")
