"""The quiz as it stands in the page: each question has one right choice, and every choice is explained."""

from pathlib import Path

import pytest

from gradaccum.messages import catalogue

RIGHT = {"en": "Right.", "ar": "صواب."}


@pytest.fixture(params=RIGHT)
def language(request):
    return request.param


@pytest.fixture
def questions(language_pages, language):
    return language_pages[Path(language, "learn", "quiz", "index.html")].find_all(class_="ga-question")


def test_there_are_enough(questions):
    assert len(questions) >= 15


def test_the_score_stands_in_the_page_before_any_answer(language_pages, language, questions):
    score = language_pages[Path(language, "learn", "quiz", "index.html")].find(class_="ga-score")
    shown = catalogue(language)["ui.quiz_score"].format(answered=0, all=len(questions), right=0)
    assert score.get_text(strip=True) == shown


def test_every_choice_is_explained_and_the_right_one_says_so(questions, language):
    for question in questions:
        choices = question.find("ol", recursive=False).find_all("li", recursive=False)
        reasons = question.details.find("ol").find_all("li", recursive=False)
        assert len(choices) == len(reasons) >= 3, question["data-right"]
        marked = [number for number, reason in enumerate(reasons, 1) if reason.strong and reason.strong.text == RIGHT[language]]
        assert marked == [int(question["data-right"])], question.h3.text
        assert all(choice.get_text(strip=True) for choice in choices)


def test_no_two_choices_are_alike(questions):
    for question in questions:
        choices = [choice.get_text(strip=True) for choice in question.find("ol", recursive=False).find_all("li")]
        assert len(choices) == len(set(choices)), question.h3.text


def test_the_right_choice_is_not_always_in_one_place(questions):
    places = [question["data-right"] for question in questions]
    assert min(places.count(place) for place in "123") >= 4


def test_questions_have_ids_of_their_own(questions):
    ids = [question.h3["id"] for question in questions]
    assert len(ids) == len(set(ids))
