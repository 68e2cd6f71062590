"""Each calculator of the site works in its page, with what its declaration says and nothing else."""

import pytest
from playwright.sync_api import expect

from gradaccum.calculators import CALCULATORS

PAGES = {
    "accumulation": "",
    "batch_split": "calculators/batch-split/",
    "updates": "calculators/updates/",
    "learning_rate": "calculators/learning-rate/",
    "loss_weights": "calculators/loss-weights/",
    "training_memory": "calculators/training-memory/",
    "lora": "calculators/lora/",
    "recipe": "calculators/recipe/",
    "plan": "calculators/planner/",
}


def test_every_declared_calculator_has_its_page():
    assert set(PAGES) == {name for name, calculator in CALCULATORS.items() if not calculator.variants}


@pytest.mark.parametrize("name", PAGES)
def test_form_has_every_declared_field_in_its_language(open_page, language, words, name):
    page = open_page(f"{language}/{PAGES[name]}", java_script_enabled=False)
    for field in CALCULATORS[name].fields:
        place = page.locator(f".ga-calculator [data-field={field.name}]")
        expect(place.locator("> label")).to_contain_text(words[language][f"field.{field.name}.label"])
        # A range may follow.
        expect(place.locator("> .ga-help")).to_contain_text(words[language][f"field.{field.name}.help"])


def test_printed_result_is_what_the_browser_answers(open_page, calculator_of, address, language):
    """Through instant navigation from one calculator to the next, so that Python starts once."""
    page = open_page(f"{language}/")
    for name, path in PAGES.items():
        if path:
            page.evaluate(
                """(href) => {
                  const link = Object.assign(document.createElement('a'), {href, textContent: 'onward'});
                  document.querySelector('.md-content').prepend(link);
                  link.click();
                }""",
                f"{address}/{language}/{path}",
            )
        calculator = calculator_of(page)
        expect(calculator.section).to_have_attribute("data-calculator", name)
        # The script has taken it over.
        expect(calculator.section.locator("output").first).to_have_attribute("aria-live", "off")
        result = calculator.section.locator(".ga-result")
        printed = result.locator(".ga-value, .ga-table").all_inner_texts()
        steps = calculator.section.locator(".ga-steps annotation").all_text_contents()
        assert printed
        page.evaluate("document.querySelector('.ga-form').requestSubmit()")
        calculator.answered()
        assert result.locator(".ga-value, .ga-table").all_inner_texts() == printed
        expect(calculator.section.locator(".ga-steps annotation")).to_have_text(steps)
