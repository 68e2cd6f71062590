"""The search box: pages in the order of the site's own ranking, one group a page, and the way to the other language."""

import re

import pytest
from playwright.sync_api import expect

OTHER = {"ar": "en", "en": "ar"}
ASKED = {
    "en": ("where do I put clip_grad_norm_", "learn/pitfalls/clipping/"),
    "ar": ("متى اقص التدرجات", "learn/pitfalls/clipping/"),
}
# Letters of the other language, and what is found there.
ELSEWHERE = {
    "en": ("اخر نافذة غير مكتملة", "learn/pitfalls/last-window/"),
    "ar": ("last window", "learn/pitfalls/last-window/"),
}


def ask(page, question):
    """Type a question; the theme looks at what stands there when a key goes up."""
    page.locator(".md-search__input").fill(question)
    page.locator(".md-search__input").press("End")


def results(page):
    """The addresses of the first result of each group, best first."""
    return page.locator(".md-search-result__item > a.md-search-result__link:first-of-type")


def test_a_question_finds_the_page_first_and_each_page_once(open_page, language):
    page = open_page(f"{language}/")
    question, wanted = ASKED[language]
    ask(page, question)
    expect(results(page).first).to_be_attached()
    pages = [link.get_attribute("href").split("?")[0].split("#")[0] for link in results(page).all()]
    assert any(address.endswith(f"/{language}/{wanted}") for address in pages[:3]), pages
    assert len(pages) == len(set(pages))
    expect(page.locator(".ga-search-offer")).to_have_count(0)


def test_the_other_language_is_offered_and_answers(open_page, address, language):
    page = open_page(f"{language}/learn/formula/")
    question, wanted = ELSEWHERE[language]
    ask(page, question)
    offer = page.locator(".ga-search-offer")
    expect(offer).to_contain_text(question)
    expect(offer).to_have_attribute("lang", OTHER[language])
    offer.click()
    page.wait_for_url(re.compile(rf"{address}/{OTHER[language]}/\?q="))
    expect(results(page).first).to_be_attached()
    pages = [link.get_attribute("href").split("?")[0].split("#")[0] for link in results(page).all()]
    assert any(found.endswith(f"/{OTHER[language]}/{wanted}") for found in pages[:3]), pages


def test_the_offer_goes_when_the_question_does(open_page):
    page = open_page("en/")
    ask(page, "تراكم")
    expect(page.locator(".ga-search-offer")).to_have_count(1)
    page.locator(".md-search__form").evaluate("form => form.reset()")
    expect(page.locator(".ga-search-offer")).to_have_count(0)


@pytest.mark.parametrize("question", ["تدرجات", "gradient تدرجات"])
def test_the_arabic_site_keeps_questions_that_have_arabic_in_them(open_page, question):
    page = open_page("ar/")
    ask(page, question)
    expect(results(page).first).to_be_attached()
    expect(page.locator(".ga-search-offer")).to_have_count(0)


def test_no_result_lists_words_that_the_reader_never_typed(open_page):
    page = open_page("en/")
    page.locator(".md-search__input").click()
    ask(page, "clipping")
    expect(results(page).first).to_be_visible()
    listed = page.locator(".md-search-result__terms")
    expect(listed.first).to_be_attached()
    assert not any(one.is_visible() for one in listed.all())
