"""Two languages side by side: the switch keeps the page, and each site is in its own language and direction."""

import re

import pytest
from playwright.sync_api import expect

OTHER = {"ar": "en", "en": "ar"}
PAGES = ["", "learn/formula/", "calculators/updates/", "reference/cli/"]


@pytest.mark.parametrize("path", PAGES)
def test_switch_keeps_the_page(open_page, address, language, path):
    page = open_page(f"{language}/{path}")
    page.locator("a.ga-language").click()
    page.wait_for_url(f"{address}/{OTHER[language]}/{path}")
    expect(page.locator("html")).to_have_attribute("lang", OTHER[language])
    expect(page.locator("html")).to_have_attribute("dir", {"ar": "rtl", "en": "ltr"}[OTHER[language]])


def test_switch_keeps_the_page_after_an_instant_navigation(open_page, address, language):
    page = open_page(f"{language}/")
    page.wait_for_load_state("networkidle")  # The theme has learnt by then which pages there are.
    page.evaluate("window.survivor = true")
    for path in ("learn/formula/", "calculators/batch-split/"):
        page.locator(f".md-content a[href*='{path.rstrip('/')}']").first.click()
        page.wait_for_url(re.compile(f"{address}/{language}/{path}(#.*)?$"))
        assert page.evaluate("window.survivor") is True
        # The address comes before the page.
        leads_to(page, f"{address}/{OTHER[language]}/{path}")
        if path != "calculators/batch-split/":
            page.go_back()
            leads_to(page, f"{address}/{OTHER[language]}/")
    page.locator("a.ga-language").click()
    page.wait_for_url(f"{address}/{OTHER[language]}/calculators/batch-split/")
    expect(page.locator("html")).to_have_attribute("lang", OTHER[language])


def leads_to(page, address):
    """The page has come, and the switch with it."""
    expect(page.locator("a.ga-language").first).to_have_js_property("href", address)


def test_switch_takes_the_inputs_along(open_page, calculator_of, language):
    page = open_page(f"{language}/")
    calculator_of(page).type("replicas", "٤")
    page.wait_for_url(re.compile("#.*replicas"))
    page.locator("a.ga-language").click()
    expect(page.locator("html")).to_have_attribute("lang", OTHER[language])
    calculator = calculator_of(page)
    expect(calculator.control("replicas")).to_have_value("٤")
    calculator.shows(effective_batch="128")


@pytest.mark.parametrize("preferred,expected", [("ar-EG", "ar"), ("en-GB", "en"), ("fr-FR", "en")])
def test_root_page_picks_by_the_browsers_language(open_page, address, preferred, expected):
    page = open_page("", locale=preferred)
    page.wait_for_url(f"{address}/{expected}/")


def test_root_page_works_without_scripts(open_page, address, language):
    page = open_page("", java_script_enabled=False)
    page.locator(f"a[hreflang={language}], a[lang={language}]").first.click()
    page.wait_for_url(f"{address}/{language}/")
