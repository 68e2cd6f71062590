"""Single figures for the sentences of the page, out of the same computations as its tables."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from statistics import median

from evidence.cells import cells, itemised
from evidence.measured import rows
from evidence.predictions import in_group, predictions, summary
from evidence.tables import BOUND, share
from gradaccum.figures import format_count, format_decimal, format_size

TINY = "tiny-"


def ratios() -> list[Fraction]:
    """Driver over allocator, for the rows that name both."""
    return [Fraction(beside, row.published) for row in rows() if (beside := row.driver_beside) and row.published]


def _published_worst(checkpointing: str) -> float:
    return max(cell.worst for cell in cells() if not cell.model.startswith(TINY) and cell.checkpointing == checkpointing)


def example() -> int:
    """What was published for the row that the page works out from the command line."""
    asked = {"model": "Llama-3-8B", "seq": "4096", "micro_batch": "8", "method": "lora"}
    like = [row for row in rows() if all(getattr(row, name) == value for name, value in asked.items())]
    [found] = [row for row in like if "kernels-liger" in row.notes]
    return found.published or 0


FIGURES: dict[str, Callable[[], str]] = {
    "rows": lambda: format_count(len(rows())),
    "computed": lambda: format_count(sum(found.peak is not None for found in predictions())),
    "not_computed": lambda: format_count(sum(found.peak is None for found in predictions())),
    "cells": lambda: format_count(len(cells())),
    "itemised": lambda: format_count(itemised()),
    "points": lambda: format_count(sum(cell.points for cell in cells())),
    "models": lambda: format_count(len({cell.model for cell in cells()})),
    "difference": lambda: f"{format_count(max(cell.difference for cell in cells()))} B",
    "bound": lambda: f"{format_decimal(100 * BOUND)} %",
    "worst": lambda: share(max(cell.worst for cell in cells())),
    "worst_published": lambda: share(_published_worst("none")),
    "worst_published_checkpointing": lambda: share(_published_worst("full")),
    "pairs": lambda: format_count(len(ratios())),
    "ratio_low": lambda: format_decimal(min(ratios())),
    "ratio_middle": lambda: format_decimal(median(ratios())),
    "ratio_high": lambda: format_decimal(max(ratios())),
    "example_published": lambda: format_size(example(), "binary"),
}


def figure(name: str) -> str:
    """A figure by name: one of the above, or ``GROUP.count``, ``.median``, ``.nine_in_ten``, ``.low``, ``.high``, ``.rows``.

    ``GROUP.plain_median`` and the like are those of the package's own answers, without what sources say of their runs.
    """
    if name in FIGURES:
        return FIGURES[name]()
    group, _, part = name.partition(".")
    if part == "rows":
        return format_count(len(in_group(group)))
    found = summary(group, plain=part.startswith("plain_"))
    if found is None:
        raise KeyError(name)
    if part == "count":
        return format_count(found.count)
    return share(getattr(found, part.removeprefix("plain_")), signed=part in ("low", "high"))
