"""Inputs in the address: a result can be shared, and comes back."""

import re
from urllib.parse import quote

from playwright.sync_api import expect

SHARED = "micro_batch=2&accumulation_steps=" + quote("١٦") + "&replicas=4&activation_per_sample=1.5+GiB&sequence_length=1024"


def test_shared_address_restores_inputs_and_result(open_page, calculator_of, language):
    calculator = calculator_of(open_page(f"{language}/#{SHARED}"))
    calculator.shows(effective_batch="128", activation_memory="3 GiB", tokens_per_update="131,072")
    expect(calculator.control("accumulation_steps")).to_have_value("١٦")
    expect(calculator.control("activation_per_sample")).to_have_value("1.5 GiB")


def test_address_follows_what_is_typed(live, address_inputs):
    live.type("micro_batch", "3")
    live.type("activation_per_sample", "")
    live.shows(effective_batch="24")
    expect(live.page).to_have_url(re.compile("micro_batch=3.*activation_per_sample=(&|$)"))  # Written when the reader rests.
    held = address_inputs(live.page)
    assert held["micro_batch"] == "3"
    assert held["activation_per_sample"] == ""
    assert "sequence_length" not in held


def test_typing_leaves_no_entries_behind_in_the_history(live):
    before = live.page.evaluate("history.length")
    for text in ("5", "6", "7"):
        live.type("micro_batch", text)
        live.answered()
        expect(live.page).to_have_url(re.compile(f"micro_batch={text}&"))
    assert live.page.evaluate("history.length") == before


def test_changed_address_changes_the_form(live):
    live.page.evaluate("location.hash = 'micro_batch=10&accumulation_steps=10'")
    live.shows(effective_batch="100")
    expect(live.control("micro_batch")).to_have_value("10")
    live.page.evaluate("location.hash = 'next'")
    expect(live.control("micro_batch")).to_have_value("10")


def test_anchor_of_a_heading_starts_nothing(open_page, calculator_of, language):
    page = open_page(f"{language}/#claim")
    page.wait_for_load_state("networkidle")
    assert page.guard.of_pyodide() == []
    assert calculator_of(page).section.get_attribute("data-state") is None


def test_following_an_anchor_keeps_what_was_typed(open_page, calculator_of, language):
    """The theme fetches the page anew the first time a reader follows an anchor in it."""
    page = open_page(f"{language}/")
    page.wait_for_load_state("networkidle")
    calculator = calculator_of(page)
    calculator.type("replicas", "٤")
    calculator.shows(effective_batch="128")
    page.evaluate("document.querySelector('.ga-form').dataset.old = 'true'")
    page.evaluate("document.querySelector('.md-content a[href$=\"#window\"]').click()")
    expect(page.locator(".ga-form[data-old]")).to_have_count(0)
    expect(calculator.control("replicas")).to_have_value("٤")
    calculator.shows(effective_batch="128")
    expect(page.locator(".ga-picture[data-live=true]").first).to_be_visible()
