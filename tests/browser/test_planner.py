"""The planner in its page: a preset, a changed budget, an impossible one, a recipe to copy, a shared address."""

from urllib.parse import urlencode

from playwright.sync_api import expect

from gradaccum import api

PAGE = "calculators/planner/"


def answer(language, **inputs):
    return api.answer({"calculator": "plan", "inputs": inputs, "language": language, "view": True})


def starting(page):
    """What the form sends as it was printed."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelector('.ga-form').elements]
          .filter((control) => control.name && control.type !== 'checkbox' && control.value.trim())
          .map((control) => [control.name, control.value]))"""
    )


def test_presets_fill_the_form_and_their_plans_fit(open_page, calculator_of, address_inputs, language):
    page = open_page(f"{language}/{PAGE}")
    presets = page.locator("a.ga-preset")
    assert presets.count() == 5
    for place in range(5):
        calculator_of(page).forget()
        presets.nth(place).click()
        check_preset(page, calculator_of(page), address_inputs, language)


def check_preset(page, calculator, address_inputs, language):
    calculator.answered()
    held = address_inputs(page)
    for name, text in held.items():
        expect(calculator.control(name)).to_have_value(text)
    expected = answer(language, **starting(page))
    assert expected["outputs"]["verdict"] == "fits"
    calculator.shows(
        micro_batch=f"{expected['outputs']['micro_batch']:,}",
        accumulation_steps=f"{expected['outputs']['accumulation_steps']:,}",
    )
    assert {plan["effective_batch"] for plan in expected["outputs"]["plans"]} == {int(held["effective_batch"])}
    expect(page.locator("figure[data-picture=frontier]")).to_be_visible()


def test_a_smaller_budget_changes_the_plan_and_the_picture(open_page, calculator_of, language):
    page = open_page(f"{language}/{PAGE}")
    calculator = calculator_of(page)
    before = calculator.output("micro_batch").inner_text()
    calculator.type("memory_budget", "16 GiB")
    calculator.answered()
    expected = answer(language, **starting(page))["outputs"]
    calculator.shows(micro_batch=str(expected["micro_batch"]), accumulation_steps=str(expected["accumulation_steps"]))
    assert str(expected["micro_batch"]) != before
    caption = page.locator("figure[data-picture=frontier] figcaption")
    expect(caption).to_contain_text("16 GiB")
    expect(page.locator("[data-output=plans] tbody tr")).to_have_count(len(expected["plans"]))


def test_an_impossible_budget_says_by_how_much_and_what_helps(open_page, calculator_of, words, language):
    page = open_page(f"{language}/{PAGE}")
    calculator = calculator_of(page)
    calculator.section.locator("[name=method]").select_option("full")
    calculator.answered()
    expected = answer(language, **starting(page))
    assert expected["outputs"]["verdict"] == "accumulation_cannot_help"
    calculator.shows(verdict=words[language]["verdict.accumulation_cannot_help"])
    shown = {output["name"]: output["text"] for output in expected["view"]["outputs"]}
    calculator.shows(shortfall=shown["shortfall"])
    notes = {note["code"]: note["message"] for note in expected["notes"]}
    for code in ("plan_cannot_help", "plan_would_fit"):
        expect(page.locator(f"[data-note={code}]")).to_contain_text(notes[code])
    assert shown["shortfall"] in notes["plan_cannot_help"]
    expect(page.locator("[data-output=helps] tbody tr")).to_have_count(len(expected["outputs"]["helps"]))
    expect(page.locator("[data-output=files]")).to_have_count(0)


def test_a_recipe_is_copied_with_the_numbers_of_the_plan(open_page, calculator_of, language):
    page = open_page(f"{language}/{PAGE}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    calculator = calculator_of(page)
    calculator.section.locator("[name=recipe]").select_option("lightning")
    calculator.answered()
    expected = answer(language, **starting(page))["outputs"]
    copied = calculator.copied(page.locator(".ga-file:not([hidden]) .ga-file-buttons button").first)
    assert copied.strip() == expected["files"][0]["text"].strip()
    assert str(expected["accumulation_steps"]) in copied


def test_a_shared_address_holds_the_whole_plan(open_page, calculator_of, language):
    inputs = {
        "model": "gpt2-xl", "gpu": "RTX 3090", "effective_batch": "٢٥٦", "replicas": "4", "sequence_length": "1024",
        "method": "lora", "checkpointing": "none", "optimizer": "any", "sharding": "any", "recipe": "pytorch",
    }  # fmt: skip
    page = open_page(f"{language}/{PAGE}#{urlencode(inputs)}")
    calculator = calculator_of(page)
    calculator.answered()
    for name, text in inputs.items():
        expect(calculator.control(name)).to_have_value(text)
    expected = answer(language, **inputs)["outputs"]
    calculator.shows(micro_batch=str(expected["micro_batch"]), accumulation_steps=str(expected["accumulation_steps"]))
    expect(page.locator(".ga-file").first).to_contain_text(str(expected["accumulation_steps"]))
