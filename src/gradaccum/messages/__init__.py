"""Every word a person sees from this package, in each language."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from types import MappingProxyType

LANGUAGES = ("ar", "en")

# First strong isolate and its end: a value keeps its own direction inside a sentence that runs the other way.
_ISOLATE, _POP = "\u2068", "\u2069"
_LONGEST_VALUE = 80
_ENTERED = {"value", "unit", "name"}


@cache
def catalogue(language: str) -> MappingProxyType[str, str]:
    """All messages of a language by key. Errors: ``FileNotFoundError`` for a language that is not in ``LANGUAGES``."""
    found: dict[str, str] = {}
    for name in (f"{language}.json", f"experiments.{language}.json"):
        found |= json.loads(files(__name__).joinpath(name).read_text(encoding="utf-8"))
    return MappingProxyType(found)


def text(key: str, language: str, /, **values: object) -> str:
    """A message with its values put in. Errors: ``KeyError`` for an unknown key or a missing value.

    >>> text("ui.copied", "en")
    'Copied.'
    """
    shown = {name: _shown(name, value, language) for name, value in values.items()}
    return catalogue(language)[key].format_map(shown)


def has(key: str, language: str) -> bool:
    """Whether the language has that message."""
    return key in catalogue(language)


def choice_text(field: str, choice: str, language: str) -> str:
    """A choice in words, which may be those of its field alone; the name of a device and the like stands for itself."""
    for key in (f"choice.{field}.{choice}", f"choice.{choice}"):
        if has(key, language):
            return text(key, language)
    return choice


def _shown(name: str, value: object, language: str) -> str:
    """A value as it stands in a sentence: on one line, shortened if a reader entered it, isolated where directions may mix."""
    shown = " ".join(str(value).split())
    if name in _ENTERED and len(shown) > _LONGEST_VALUE:
        shown = shown[: _LONGEST_VALUE - 1] + "…"
    return shown if language == "en" and shown.isascii() else f"{_ISOLATE}{shown}{_POP}"
