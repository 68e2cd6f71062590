"""Numbers for the pages. They come out of ``gradaccum.api.answer`` and from nowhere else."""

from __future__ import annotations

from typing import Any

from gradaccum.api import answer
from gradaccum.calculators import CALCULATORS, Calculator
from gradaccum.messages import catalogue


class PageError(Exception):
    """A page asks for something that is not there, or a calculator refused what a page gave it."""


def calculator_named(name: str) -> Calculator:
    """The declaration of that name."""
    if name not in CALCULATORS:
        raise PageError(f"no calculator {name!r}; there are {', '.join(CALCULATORS)}")
    return CALCULATORS[name]


def word(key: str, language: str) -> str:
    """A message that must exist."""
    messages = catalogue(language)
    if key not in messages:
        raise PageError(f"no message {key!r} in language {language!r}")
    return messages[key]


def starting_inputs(name: str) -> dict[str, object]:
    """What the form sends before anybody has touched it: text as typed, and true or false for a box."""
    inputs: dict[str, object] = {}
    for field in calculator_named(name).fields:
        if field.kind == "flag":
            inputs[field.name] = field.example == "true"
        elif field.example:
            inputs[field.name] = field.example
    return inputs


def ask(name: str, language: str, inputs: dict[str, Any] | None = None) -> dict[str, Any]:
    """The accepted answer with its view; a refused one stops the build, since a page must not show it."""
    calculator_named(name)
    request = {
        "calculator": name,
        "inputs": starting_inputs(name) if inputs is None else inputs,
        "language": language,
        "view": True,
    }
    response = answer(request)
    if not response["ok"]:
        raise PageError(f"{name} refused {request['inputs']}: {response['errors']}")
    return response


def output_text(name: str, output: str, language: str, inputs: dict[str, Any]) -> str:
    """One output, formatted for a person."""
    shown = {entry["name"]: entry["text"] for entry in ask(name, language, inputs)["view"]["outputs"]}
    if output not in shown:
        raise PageError(f"{name} with {inputs} gives no {output!r}; it gives {', '.join(shown)}")
    return str(shown[output])
