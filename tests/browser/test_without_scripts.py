"""The page before any script has run."""

import pytest
from playwright.sync_api import expect


@pytest.fixture
def still(open_page, language):
    return open_page(f"{language}/", java_script_enabled=False)


def test_default_result_is_there(still, calculator_of):
    calculator_of(still).shows(effective_batch="32", activation_memory="2 GB", whole_batch_activation_memory="16 GB")


def test_worked_example_is_there_with_mathml(still):
    formulas = still.locator(".ga-steps li .arithmatex")
    expect(formulas).to_have_count(3)
    expect(still.locator(".ga-steps math")).to_have_count(3)
    assert all(formulas.nth(index).bounding_box()["width"] > 50 for index in range(3))


@pytest.mark.parametrize("picture", ["capacity", "window"])
@pytest.mark.parametrize("width", [360, 1280])
def test_picture_is_there_at_every_width(still, picture, width):
    still.set_viewport_size({"width": width, "height": 800})
    drawing = still.locator(f".ga-picture[data-picture={picture}] svg:visible")
    expect(drawing).to_have_count(1)
    assert drawing.bounding_box()["width"] > 280
    assert "GB" in drawing.get_attribute("aria-label")


def test_reader_is_told_what_does_not_work(still, language, words):
    expect(still.locator(".ga-noscript")).to_have_text(words[language]["ui.noscript"])
    expect(still.locator(".ga-copy")).to_be_hidden()
    expect(still.locator(".ga-buttons").first).to_be_hidden()


def test_the_other_language_is_one_link_away(still, language):
    other = {"ar": "en", "en": "ar"}[language]
    still.locator("a.ga-language").click()
    expect(still.locator("html")).to_have_attribute("lang", other)
