"""What stands beside a choice in a list: the size of a model, the memory of a device."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from gradaccum import figures, models
from gradaccum.activations import parameters_of
from gradaccum.catalogue import gpu_memory
from gradaccum.setting import Setting
from page_parts.answers import word

BILLION, MILLION = 10**9, 10**6


def choice_detail(field: str, choice: str, language: str) -> str:
    """In words; "" for choices that stand for themselves."""
    return DETAILS[field](choice, language) if field in DETAILS else ""


@cache
def parameter_count(model: str) -> int:
    """Parameters of a model of the catalogue, counted."""
    return sum(p.count * times for p, times in parameters_of(models.chosen({"model": model}), Setting()))


def _parameters(model: str, language: str) -> str:
    count = parameter_count(model)
    name, unit = ("billion", BILLION) if count >= BILLION else ("million", MILLION)
    places = 2 if name == "billion" else 0
    return word(f"detail.{name}", language).format(count=figures.format_decimal(Fraction(count, unit), places))


DETAILS: dict[str, Callable[[str, str], str]] = {
    "model": _parameters,
    "gpu": lambda gpu, _: figures.format_size(gpu_memory(gpu), "binary"),
}
