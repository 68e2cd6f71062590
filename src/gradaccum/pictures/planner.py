"""The planner's picture: peak against time, with what fits and what does not on either side of the budget."""

from __future__ import annotations

from typing import Any

from gradaccum import figures
from gradaccum.calculators.declaration import Answer, Setting, Values
from gradaccum.messages import text
from gradaccum.pictures.parts import limit, scaled
from gradaccum.tables import SWITCHES
from gradaccum.wording import said

GROUPS = ("plans", "helps", "overflowing")
MOST_SERIES = 4
"""Combinations of switches that a drawing can tell apart; the best ones are drawn."""


def frontier(values: Values, answer: Answer, language: str) -> dict[str, Any] | None:
    """Each plan as a point: how long an update takes, and how much memory it needs at its peak."""
    rows = [row | {"group": group} for group in GROUPS for row in answer.outputs.get(group, [])]
    if not rows:
        return None
    varying = [name for name in SWITCHES if len({row.get(name) for row in rows}) > 1]
    series = list(dict.fromkeys(tuple(row[name] for name in varying) for row in rows))[:MOST_SERIES]
    budget = _budget(answer)
    unit = figures.size_in_unit(max(budget, *(row["peak"] for row in rows)), answer.system)[1]
    label = text("field.memory_budget.label", language) if "memory_budget" in values else values["gpu"]
    line = limit(label, budget, unit)
    points = [
        _point(row, series.index(key), unit, answer, language)
        for row in rows
        if (key := tuple(row[name] for name in varying)) in series
    ]
    return {
        "unit": unit,
        "title": text("picture.frontier.title", language),
        "summary": text("picture.frontier.summary", language, name=line["label"], capacity=line["text"]),
        "axis": text("picture.axis.peak", language, unit=unit),
        "time_axis": text("picture.axis.relative_time", language),
        "limit": line,
        "series": [_named(varying, key, language) for key in series],
        "points": points,
    }


def _budget(answer: Answer) -> int:
    outputs = answer.outputs
    size: int = outputs["peak"] + outputs["headroom"] if "plans" in outputs else outputs["smallest_peak"] - outputs["shortfall"]
    return size


def _named(varying: list[str], key: tuple[str, ...], language: str) -> str:
    if not varying:
        return text("picture.frontier.series", language)
    return str(said(tuple(Setting(name, choice) for name, choice in zip(varying, key, strict=True)), language))


def _point(row: dict[str, Any], place: int, unit: str, answer: Answer, language: str) -> dict[str, Any]:
    shown = figures.format_size(row["peak"], answer.system)
    named = {
        "micro_batch": figures.format_count(row["micro_batch"]),
        "peak": shown,
        "time": figures.format_number(row["relative_time"], 4),
    }
    return {
        "series": place,
        "fits": row["group"] != "overflowing",
        "time": float(row["relative_time"]),
        "value": scaled(row["peak"], unit),
        "name": f"b = {named['micro_batch']}",
        "text": text("picture.frontier.point", language, **named),
    }
