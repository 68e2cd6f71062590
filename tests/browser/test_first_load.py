"""What a first visit fetches, and what it leaves for later."""

import re

import pytest
from playwright.sync_api import expect

QUERY = {"ar": "الدفعة", "en": "batch"}


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
