"""Sentences that a calculator's answer holds, put into the language of the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradaccum.calculators.declaration import Answer, Setting, Words
from gradaccum.messages import text


def worded(answer: Answer, language: str) -> Answer:
    """The answer with the sentences in its lists, and the outputs that are words themselves, in that language."""
    outputs = answer.outputs | (answer.worded(language) if answer.worded else {})
    return replace(answer, outputs={name: _rows(value, language) for name, value in outputs.items()})


def _rows(value: Any, language: str) -> Any:
    if not isinstance(value, list):
        return value
    return [{k: said(v, language) for k, v in row.items()} if isinstance(row, dict) else row for row in value]


def sentence(key: str, values: Mapping[str, object], language: str) -> str:
    """A message, whose values may be sentences themselves."""
    return text(key, language, **{name: said(value, language) for name, value in values.items()})


def said(value: object, language: str) -> Any:
    """A sentence or a switch in words, several of them in a list, anything else as it is."""
    if isinstance(value, Words):
        return sentence(value.key, value.values, language)
    if isinstance(value, Setting):
        label = text(f"field.{value.field}.label", language)
        return text("ui.setting", language, field=label, choice=value.choice)
    if isinstance(value, tuple):
        return text("ui.and", language).join(said(part, language) for part in value)
    return value
