"""A first visit: from the home page over the idea to one's own numbers, a plan and a recipe, in at most five steps."""

import re

from playwright.sync_api import expect

START = 60_000
MOST = 5


def test_a_newcomer_gets_a_recipe_in_at_most_five_steps(open_page, calculator_of, language):
    page = open_page(f"{language}/")
    steps = []

    def step(name, action):
        steps.append(name)
        action()

    # What the site is and where to go stands on the first screen, before anything is scrolled.
    for link in page.locator(".ga-paths a").all():
        expect(link).to_be_in_viewport()
    expect(page.locator(".ga-output.ga-primary").first).to_be_in_viewport()

    step("understand", page.locator(".ga-paths a[href$='concept/']").click)
    expect(page.locator("meta[property='og:url']")).to_have_attribute("content", re.compile("/concept/$"))
    expect(page.locator("h1#concept, h1").first).to_be_visible()
    way = page.locator("article a[href$='calculators/planner/']").first
    expect(way).to_be_in_viewport()
    step("plan", way.click)
    calculator = calculator_of(page)
    expect(calculator.section).to_have_attribute("data-calculator", "plan")
    step("one's own batch", lambda: calculator.type("effective_batch", "128"))
    calculator.answered()
    step("one's own framework", lambda: calculator.control("recipe").select_option("accelerate"))
    code = calculator.section.locator(".ga-file code").first
    expect(code).to_contain_text("Accelerator", timeout=START)
    expect(code).to_contain_text("= 128")
    step("take it along", calculator.section.locator(".ga-file-buttons button").first.click)
    assert len(steps) <= MOST


# The mark of a press goes after two seconds, in which a busy machine may not have looked.
KEEP_MARKS = """new MutationObserver((found) => {
  for (const { target } of found) if ('done' in target.dataset) target.dataset.wasDone = '';
}).observe(document, {subtree: true, attributeFilter: ['data-done']})"""


def test_a_phone_says_on_the_screen_what_became_of_a_key_and_of_a_press(open_page, calculator_of, at_rest, language, words):
    page = open_page(f"{language}/calculators/planner/", viewport={"width": 360, "height": 740})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate(KEEP_MARKS)
    calculator = calculator_of(page)
    calculator.type("effective_batch", "128")
    calculator.answered()
    expect(calculator.section.locator(".ga-result")).not_to_be_in_viewport()
    expect(calculator.status).to_have_text(words[language]["ui.updated"])
    expect(calculator.status).to_be_in_viewport(ratio=1)
    at_rest(page)
    field, status = calculator.control("effective_batch").bounding_box(), calculator.status.bounding_box()
    assert field["y"] + field["height"] <= status["y"]
    button = calculator.section.locator(".ga-file-buttons button").first
    button.click()
    expect(button).to_have_attribute("data-was-done", "")
