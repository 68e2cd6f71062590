"""The quiz's score before any answer: it stands in the page from the start, so nothing moves when the script comes."""

from __future__ import annotations

from page_parts.answers import word
from page_parts.markup import tag, text


def score_html(questions: int, language: str) -> str:
    """The line that ``docs/assets/js/quiz.mjs`` keeps up to date."""
    shown = word("ui.quiz_score", language).format(answered=0, all=questions, right=0)
    return tag("div", tag("p", text(shown)), class_="ga-score", tabindex="-1")
