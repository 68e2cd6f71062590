"""The quiz in a browser: instant feedback, keyboard, score, and what is left without scripts or storage."""

import json

import pytest
from playwright.sync_api import expect

# Only our own key: the theme keeps things as well, and is not what is tried here.
NO_STORAGE = """for (const name of ["getItem", "setItem"]) {
  const kept = Storage.prototype[name];
  Storage.prototype[name] = function (key, ...more) {
    if (key === "ga-quiz") throw new DOMException("refused", "QuotaExceededError");
    return kept.call(this, key, ...more);
  };
}"""


class Question:
    def __init__(self, page, index=0):
        self.section = page.locator(".ga-question").nth(index)
        self.right = int(self.section.get_attribute("data-right")) - 1
        self.choices = self.section.locator(".ga-choice")
        self.feedback = self.section.locator(".ga-feedback")

    @property
    def wrong(self):
        return (self.right + 1) % 3


@pytest.fixture
def page(open_page, language):
    return open_page(f"{language}/learn/quiz/")


def score(page, words, language, answered, right):
    expect(page.locator(".ga-choice").first).to_be_visible()
    count = page.locator(".ga-question").count()
    return words[language]["ui.quiz_score"].format(answered=answered, all=count, right=right)


def test_a_wrong_choice_is_explained_and_another_may_follow(page, words, language):
    question = Question(page)
    expect(question.feedback).to_be_hidden()
    question.choices.nth(question.wrong).click()
    expect(question.feedback).to_be_visible()
    expect(question.feedback).to_have_attribute("role", "status")
    first = question.feedback.text_content()
    expect(question.choices.nth(question.wrong)).to_contain_text(words[language]["ui.quiz_wrong"])
    question.choices.nth(question.right).click()
    expect(question.feedback).not_to_have_text(first)
    expect(question.choices.nth(question.right)).to_contain_text(words[language]["ui.quiz_right"])
    expect(page.locator(".ga-score p")).to_have_text(score(page, words, language, 1, 0))


def test_a_question_that_is_answered_stays_answered(page, words, language):
    question = Question(page)
    question.choices.nth(question.right).click()
    question.choices.nth(question.wrong).click(force=True)
    expect(question.choices.nth(question.wrong)).not_to_contain_text(words[language]["ui.quiz_wrong"])
    expect(page.locator(".ga-score p")).to_have_text(score(page, words, language, 1, 1))


def test_the_keyboard_is_enough(page):
    question = Question(page)
    question.choices.first.focus()
    for _ in range(question.right):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(question.feedback).to_have_attribute("data-right", "true")
    expect(question.choices.nth(question.right)).to_be_focused()
    second = Question(page, 1)
    second.choices.nth(second.wrong).focus()
    page.keyboard.press("Space")
    expect(second.feedback).to_have_attribute("data-right", "false")


def test_answers_outlast_a_reload_and_can_be_started_over(page, words, language):
    for index in range(2):
        question = Question(page, index)
        question.choices.nth(question.right).click()
    page.reload()
    expect(page.locator(".ga-score p")).to_have_text(score(page, words, language, 2, 2))
    expect(Question(page).feedback).to_be_visible()
    page.locator(".ga-score button").click()
    expect(page.locator(".ga-score p")).to_have_text(score(page, words, language, 0, 0))
    expect(page.locator(".ga-score button")).to_be_hidden()
    expect(Question(page).feedback).to_be_hidden()
    assert json.loads(page.evaluate("localStorage.getItem('ga-quiz')")) == {}


def test_both_languages_share_the_answers(page, words, language):
    question = Question(page)
    question.choices.nth(question.right).click()
    page.locator("a.ga-language").click()
    other = {"ar": "en", "en": "ar"}[language]
    expect(page.locator("html")).to_have_attribute("lang", other)
    expect(page.locator(".ga-score p")).to_have_text(score(page, words, other, 1, 1))


@pytest.mark.parametrize("kept", ['{"effective-batch": [99, -1]}', '{"effective-batch": 2}', "[]", "no JSON"])
def test_what_is_kept_may_be_anything(open_page, words, language, kept):
    page = open_page(f"{language}/learn/quiz/", line=f"localStorage.setItem('ga-quiz', {json.dumps(kept)});")
    expect(page.locator(".ga-score p")).to_have_text(score(page, words, language, 0, 0))


def test_a_browser_that_keeps_nothing_is_no_obstacle(open_page, words, language):
    page = open_page(f"{language}/learn/quiz/", line=NO_STORAGE)
    question = Question(page)
    question.choices.nth(question.right).click()
    expect(page.locator(".ga-score p")).to_have_text(score(page, words, language, 1, 1))


def test_without_scripts_the_answers_are_folded(open_page, language):
    page = open_page(f"{language}/learn/quiz/", java_script_enabled=False)
    expect(page.locator(".ga-score")).to_be_hidden()
    folded = page.locator(".ga-question details").first
    expect(folded.locator("ol")).to_be_hidden()
    folded.locator("summary").click()
    expect(folded.locator("ol")).to_be_visible()


def test_coming_from_another_page_of_the_site_works_too(open_page, language):
    page = open_page(f"{language}/learn/faq/")
    page.locator("article a[href*='quiz']").click()
    expect(page.locator(".ga-choice").first).to_be_visible()
    question = Question(page)
    question.choices.nth(question.right).click()
    expect(question.feedback).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_among_answers(page, findings, in_scheme, scheme):
    in_scheme(page, scheme)
    for index in range(3):
        question = Question(page, index)
        question.choices.nth(question.wrong).click()
        if index == 0:
            question.choices.nth(question.right).click()
    assert findings(page) == []


@pytest.mark.parametrize("width", [320, 1280])
def test_choices_stand_in_their_question_one_below_the_other(open_page, language, width):
    page = open_page(f"{language}/learn/quiz/", viewport={"width": width, "height": 740})
    expect(page.locator(".ga-choice").first).to_be_visible()
    misplaced = page.evaluate("""() => [...document.querySelectorAll('.ga-question')].filter((question) => {
      const frame = question.getBoundingClientRect();
      const boxes = [...question.querySelectorAll('.ga-choice')].map((one) => one.getBoundingClientRect());
      const inside = boxes.every((box) => box.left >= frame.left && box.right <= frame.right && box.bottom <= frame.bottom);
      return !inside || boxes.some((box, index) => index && box.top < boxes[index - 1].bottom);
    }).map((question) => question.querySelector('h3').id)""")
    assert misplaced == []


def test_choices_are_large_enough_to_touch(open_page, language):
    page = open_page(f"{language}/learn/quiz/", viewport={"width": 360, "height": 740})
    heights = page.evaluate("[...document.querySelectorAll('.ga-choice')].map((one) => one.getBoundingClientRect().height)")
    assert len(heights) >= 45
    assert min(heights) >= 40
