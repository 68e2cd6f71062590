"""Numbers for the pages. They come out of ``gradaccum.api.answer`` and from nowhere else."""

from __future__ import annotations

from typing import Any

from gradaccum import figures
from gradaccum.api import answer
from gradaccum.calculators import CALCULATORS, FORMS, Calculator
from gradaccum.messages import catalogue


class PageError(Exception):
    """A page asks for something that is not there, or a calculator refused what a page gave it."""


def calculator_named(name: str) -> Calculator:
    """The declaration of that name; one question of several is named as ``experiment.clipping``."""
    known = CALCULATORS | FORMS
    if name not in known:
        raise PageError(f"no calculator {name!r}; there are {', '.join(known)}")
    return known[name]


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
    declared = calculator_named(name)
    question = {declared.fields[0].name: declared.topic} if declared.topic else {}
    request = {
        "calculator": declared.name,
        "inputs": starting_inputs(name) if inputs is None else question | inputs,
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


def exact_text(name: str, output: str, language: str, inputs: dict[str, Any]) -> str:
    """One output that is a size, to the byte: where two answers differ by less than rounding shows."""
    return _bytes(ask(name, language, inputs)["outputs"].get(output), f"{name} with {inputs} gives no size {output!r}")


def phase_text(phase: str, part: str, language: str, inputs: dict[str, Any]) -> str:
    """The ``peak`` of one phase of ``training_memory``, or one part of that peak."""
    rows = ask("training_memory", language, inputs)["outputs"]["phases"]
    phases = {row["phase"]: row["parts"] | {"peak": row["peak"]} for row in rows}
    if part not in phases.get(phase, {}):
        raise PageError(f"no {part!r} of {phase!r} in {phases}")
    return figures.format_size(phases[phase][part], "binary")


def kept_text(slot: str, language: str, inputs: dict[str, Any], *, exact: bool = False) -> str:
    """What the ledger of ``training_memory`` keeps in the lines whose ``module operation.slot`` ends with ``slot``, together.

    ``Softmax.result`` is the end of ``LogSoftmax.result`` too: say as much of the module as tells them apart.
    """
    ledger = ask("training_memory", language, inputs)["outputs"]["ledger"]
    sizes = [row["bytes"] for row in ledger if f"{row['module']} {row['operation']}.{row['slot']}".endswith(slot)]
    if not sizes:
        raise PageError(f"nothing in the ledger ends with {slot!r} for {inputs}")
    return _bytes(sum(sizes), slot) if exact else figures.format_size(sum(sizes), "binary")


def _bytes(size: object, complaint: str) -> str:
    if not isinstance(size, int) or isinstance(size, bool):
        raise PageError(complaint)
    return f"{figures.format_count(size)} B"
