"""Published figures of devices, each with its source and the date it was checked."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, TypedDict

from gradaccum.units import BINARY_UNITS


class Gpu(TypedDict):
    """One entry of ``gpus.json``; ``memory_gib`` is the nominal capacity in GiB."""

    name: str
    vendor: str
    kind: str
    memory_gib: int
    source: str
    checked: str
    note: str


@cache
def gpus() -> dict[str, Gpu]:
    """All devices by name, in the order of the catalogue."""
    entries: list[Gpu] = _read("gpus.json")
    return {entry["name"]: entry for entry in entries}


def gpu_memory(name: str) -> int:
    """Nominal capacity of a device, in bytes: what its chips hold, more than a program can use.

    >>> gpu_memory("RTX 4090")
    25769803776
    """
    return gpus()[name]["memory_gib"] * BINARY_UNITS["GiB"]


class Model(TypedDict):
    """One entry of ``models.json``; ``parameters`` is the published exact count, where one is known."""

    name: str
    hub: str
    config: dict[str, Any]
    parameters: int | None
    source: str
    checked: str
    note: str


@cache
def models() -> dict[str, Model]:
    """All models by name, in the order of the catalogue."""
    entries: list[Model] = _read("models.json")
    return {entry["name"]: entry for entry in entries}


def _read(name: str) -> Any:
    return json.loads(files(__name__).joinpath(name).read_text(encoding="utf-8"))
