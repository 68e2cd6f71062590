"""Words and figures as a person reads them, in the table, on plots and on the page."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from bench.claims import CLAIMS, Claim, Rule
from gradaccum import figures

FOLDER = Path(__file__).parent / "words"
SIZES = {"slope", "constant", "saved_deviation", "gradient_bytes", "deferred_bytes", "sharded_bytes", "parameter_bytes"}
SIGNS = {"<=": "≤", ">=": "≥", "==": "="}


@lru_cache
def words(language: str) -> dict[str, str]:
    """Every word of a language."""
    loaded: dict[str, str] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return loaded


def figure(name: str, value: Any) -> str:
    """A figure with its unit.

    >>> figure("slope", 2048), figure("relative_error", 1.25e-16), figure("samples", 16), figure("slowdown", 3.14159)
    ('2 KiB', '1.2e-16', '16', '3.14')
    """
    if name in SIZES:
        return figures.format_size(int(value), "binary")
    if isinstance(value, int) or float(value).is_integer():
        return figures.format_count(int(value))
    return f"{value:.1e}".replace(".0e", "e") if abs(value) < 0.01 else f"{value:.3g}"


def bound(rule: Rule, measured: dict[str, Any], kind: str) -> str:
    """What the figure was held against.

    >>> bound(Rule("relative_error", "<=", 1e-12), {}, "cpu"), bound(Rule("samples", "==", "expected"), {"expected": 16}, "cpu")
    ('≤ 1e-12', '= 16')
    """
    return f"{SIGNS[rule.relation]} {figure(rule.figure, rule.limit(measured, kind))}"


def shown(claim: Claim, entry: dict[str, Any], kind: str) -> list[tuple[str, str, str]]:
    """Name, value and bound of each figure of a claim that there is."""
    found = claim.figures(entry["measured"])
    rows = [
        (rule.figure, figure(rule.figure, found[rule.figure]), bound(rule, found, kind))
        for rule in claim.rules
        if rule.figure in found
    ]
    return rows + [(name, figure(name, found[name]), "") for name in claim.shown if name in found]


def why(entry: dict[str, Any], language: str) -> str:
    """Why a claim has fewer figures than wished, or nothing."""
    if not (stopped := entry.get("stopped")):
        return ""
    return words(language)[f"stopped.{stopped['reason']}"].format(message=stopped.get("message", ""))


def verdict(name: str, document: dict[str, Any], language: str) -> str:
    """A claim's verdict in words."""
    return words(language)[f"verdict.{document['claims'][name]['verdict']}"]


def statement(name: str, language: str) -> str:
    """The claim as a sentence."""
    return words(language)[f"claim.{CLAIMS[name].name}"]
