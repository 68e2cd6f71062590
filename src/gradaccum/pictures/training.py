"""Pictures of a training step: what the peak is made of, and how full each phase is."""

from __future__ import annotations

from typing import Any

from gradaccum import figures
from gradaccum.calculators.declaration import Answer, Values
from gradaccum.messages import text
from gradaccum.pictures.parts import limit, scaled

ORDER = ("weights", "optimizer_states", "gradients", "activations", "temporaries")
"""From the ground up: what stays all the time first."""


def budget(values: Values, answer: Answer, language: str) -> dict[str, Any]:
    """The fullest phase as one stacked bar, against the memory there is."""
    found = _shared(values, answer, language)
    peak = answer.outputs["peak"]
    name = answer.outputs["peak_phase"]
    named = {"peak": figures.format_size(peak, answer.system), "phase": text(f"phase_name.{name}", language)}
    summary = text("picture.budget.summary", language, **named) + _against(found["limit"], language)
    (stack,) = [stack for stack in found["stacks"] if stack["id"] == name]
    return found | {"title": text("picture.budget.title", language), "summary": summary, "stacks": [stack]}


def phases(values: Values, answer: Answer, language: str) -> dict[str, Any]:
    """Every phase of a step as a stacked column, in the order of time."""
    found = _shared(values, answer, language)
    name = answer.outputs["peak_phase"]
    named = {"peak": figures.format_size(answer.outputs["peak"], answer.system), "phase": text(f"phase_name.{name}", language)}
    summary = text("picture.phases.summary", language, **named) + _against(found["limit"], language)
    words = {"title": text("picture.phases.title", language), "time_axis": text("picture.axis.phases", language)}
    return found | words | {"summary": summary, "peak": name}


def _shared(values: Values, answer: Answer, language: str) -> dict[str, Any]:
    outputs = answer.outputs
    unit = figures.size_in_unit(outputs["peak"], answer.system)[1]
    line = None
    if "headroom" in outputs:
        label = text("field.memory_budget.label", language) if "memory_budget" in values else values["gpu"]
        line = limit(label, outputs["peak"] + outputs["headroom"], unit)
    return {
        "unit": unit,
        "axis": text("picture.axis.memory", language, unit=unit),
        "stacks": [_stack(phase, unit, answer, language) for phase in outputs["phases"]],
        "limit": line,
    }


def _stack(phase: dict[str, Any], unit: str, answer: Answer, language: str) -> dict[str, Any]:
    return {
        "id": phase["phase"],
        "label": text(f"phase_name.{phase['phase']}", language),
        "value": scaled(phase["peak"], unit),
        "text": figures.format_size(phase["peak"], answer.system),
        "parts": [
            {
                "id": name,
                "label": text(f"column.{name}", language),
                "value": scaled(phase["parts"][name], unit),
                "text": figures.format_size(phase["parts"][name], answer.system),
            }
            for name in ORDER
        ],
    }


def _against(line: dict[str, Any] | None, language: str) -> str:
    if not line:
        return ""
    return " " + text("picture.budget.limit", language, name=line["label"], capacity=line["text"])
