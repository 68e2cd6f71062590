"""The words of these tables, in both languages."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from evidence.measured import rows
from evidence.requests import LOGITS_HELD, LOSS_HERE, LOSS_IN_PLACE, LOSS_OLDER, SHORT
from gradaccum import figures, units

FILE = Path(__file__).with_suffix(".json")
MEGATRON_BYTES = 18
"""A parameter in Megatron-LM's report: weights and gradients in bf16 and fp32 and two moments, its own count."""


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Every text by key and language."""
    texts: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return texts


@cache
def figures_in_words() -> dict[str, Any]:
    """What the texts leave open, out of the code and the table."""
    said = next(found[1] for row in rows() if (found := re.search(r"incl\. (\d+ MB)", row.notes)))
    return {
        "context": figures.format_size(units.read_size(said, "size")),
        "b": SHORT["micro_batch"],
        "s": SHORT["sequence_length"],
        "in_place": LOSS_IN_PLACE,
        "standard": LOSS_HERE,
        "older": LOSS_OLDER,
        "held": LOGITS_HELD,
        "megatron": MEGATRON_BYTES,
    }


def say(key: str, language: str, **values: object) -> str:
    """A text with its figures."""
    return catalogue()[key][language].format(**figures_in_words() | values)
