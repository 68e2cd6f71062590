"""From a catalogue name or a ``config.json`` to an architecture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradaccum.architecture import Architecture, architecture
from gradaccum.catalogue import models
from gradaccum.errors import InputError
from gradaccum.families import FAMILIES


def chosen(values: Mapping[str, Any]) -> Architecture:
    """The model that a request names; a ``config`` goes before a ``model``."""
    if "config" in values:
        return architecture(values["config"], tuple(FAMILIES))
    return architecture(models()[values["model"]]["config"], tuple(FAMILIES))


def check(values: Mapping[str, Any]) -> None:
    """One of the two must be given, and it must be understood."""
    if "config" not in values and "model" not in values:
        raise InputError("model", "missing", "model_or_config")
    chosen(values)


def kernel(architecture: Architecture, attention: str) -> str:
    """The attention that runs: Transformers 5.24 runs a soft cap on scores in its own code only, not through sdpa."""
    return "eager" if attention == "sdpa" and architecture.softcap_attention else attention


def hub_name(values: Mapping[str, Any]) -> str:
    """The name the chosen model is loaded by; a config alone has none."""
    return "name" if "config" in values else models()[values["model"]]["hub"]
