"""What a first visit fetches, and what it leaves for later."""

import re

import pytest
from playwright.sync_api import expect

from measure_site import weight
from measure_site.pages import KINDS
from measure_site.server import Server
from page_parts.site import GOALS

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
