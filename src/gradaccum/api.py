"""The request contract: JSON text in, JSON text out. Every face of the project asks here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradaccum import figures, jsontext, messages, units
from gradaccum import view as views
from gradaccum.calculators import CALCULATORS, Calculator
from gradaccum.errors import InputError
from gradaccum.validation import MOST_CELLS, chosen, understand, unknown_name
from gradaccum.wording import worded

REQUEST_KEYS = ("calculator", "inputs", "language", "view")
LIMITS = {
    "most": figures.format_count(units.LIMIT),
    "smallest": figures.format_number(units.SMALLEST),
    "largest": figures.format_number(units.LARGEST),
    "units": ", ".join(units.UNITS),
    "most_cells": figures.format_count(MOST_CELLS),
}
"""The allowed ranges, as hints name them."""


def run(request: str, calculators: Mapping[str, Calculator] = CALCULATORS) -> str:
    """Answer one request. Nothing that is sent raises an exception: a request that cannot be answered is refused in JSON.

    ``request``: ``{"calculator": NAME, "inputs": {...}, "language": "en" | "ar", "view": false}``.

    >>> jsontext.loads(run('{"calculator": "batch_split", "inputs": {"effective_batch": 64, "micro_batch": 4}}'))["outputs"]
    {'effective_batch': 64, 'micro_batch': 4, 'accumulation_steps': 16, 'replicas': 1}
    """
    try:
        decoded = jsontext.loads(request)
    except jsontext.MalformedError as error:
        return jsontext.dumps(refusal(None, [InputError("request", "malformed", error.rule, **error.details)], "en"))
    return jsontext.dumps(answer(decoded, calculators))


def answer(request: object, calculators: Mapping[str, Calculator] = CALCULATORS) -> dict[str, Any]:
    """The same for a request that is already decoded; the response may hold ``Fraction`` and ``Decimal``.

    >>> answer({"calculator": "accumulation", "inputs": {"micro_batch": 4, "accumulation_steps": 8}})["outputs"]
    {'effective_batch': 32, 'replicas': 1}
    """
    if not isinstance(request, Mapping):
        return refusal(None, [InputError("request", "wrong_type", "object")], "en")
    language = request.get("language", "en")
    name, inputs = request.get("calculator"), request.get("inputs", {})
    errors = [unknown_name("unknown_field", str(key), REQUEST_KEYS) for key in request if key not in REQUEST_KEYS]
    if language not in messages.LANGUAGES:
        errors.append(unknown_name("unknown_value", str(language), messages.LANGUAGES, "language"))
        language = "en"
    if not isinstance(request.get("view", False), bool):
        errors.append(InputError("view", "wrong_type", "flag", value=request["view"]))
    if not isinstance(name, str):
        code = "missing" if name is None else "wrong_type"
        errors.append(InputError("calculator", code, "known_names", value=name, known=", ".join(calculators)))
    elif name not in calculators:
        errors.append(unknown_name("unknown_calculator", name, calculators, "calculator"))
    if not isinstance(inputs, Mapping):
        errors.append(InputError("inputs", "wrong_type", "object", value=inputs))
        inputs = {}
    calculator = calculators.get(name) if isinstance(name, str) else None
    if calculator is None:
        return refusal(name, errors, language)
    return _respond(calculator, inputs, language, errors, with_view=bool(request.get("view")))


def _respond(
    calculator: Calculator, inputs: Mapping[str, Any], language: str, errors: list[InputError], *, with_view: bool
) -> dict[str, Any]:
    calculator = chosen(calculator, inputs)
    values, faults = understand(calculator, inputs)
    errors = errors + faults
    if errors:
        return refusal(calculator.name, errors, language)
    try:
        found = calculator.answer(values)
    except InputError as error:
        return refusal(calculator.name, [error], language)
    found = worded(found, language)
    response: dict[str, Any] = {
        "ok": True,
        "calculator": calculator.name,
        "inputs": {**values, **found.derived},
        "outputs": found.outputs,
        "steps": views.steps(found, language),
        "notes": views.notes(found, language),
    }
    if with_view:
        response["view"] = views.view(calculator, values, found, language, dict(inputs))
    return response


def refusal(calculator: object, errors: list[InputError], language: str) -> dict[str, Any]:
    """The response that names every fault, in the reader's language."""
    return {
        "ok": False,
        "calculator": calculator if isinstance(calculator, str) else None,
        "errors": [_error(error, language) for error in errors],
    }


def _error(error: InputError, language: str) -> dict[str, Any]:
    label_key = f"field.{error.field}.label"
    label = messages.text(label_key, language) if messages.has(label_key, language) else error.field
    extra: dict[str, Any] = {key: error.details[key] for key in ("found", "nearest") if key in error.details}
    nearest = ", ".join(str(split["effective_batch"]) for split in extra.get("nearest", []))
    words = {"field": label, **LIMITS, **error.details, "nearest": nearest}
    return {
        "field": error.field,
        "code": error.code,
        "message": _worded("error", error, language, words),
        "hint": _worded("hint", error, language, words),
        **extra,
    }


def _worded(kind: str, error: InputError, language: str, words: dict[str, Any]) -> str:
    """The most specific message there is for a code and a rule."""
    for key in (f"{kind}.{error.code}.{error.rule}", f"{kind}.{error.rule}", f"{kind}.{error.code}"):
        if messages.has(key, language):
            return messages.text(key, language, **words)
    return ""
