"""The matrix of frameworks, in words made from the numbers that running them gave (``docs/data/frameworks.json``)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from page_parts.answers import PageError, word
from page_parts.markup import tag, text
from paths import DOCS

COLUMNS = ("divides", "tokens", "last_window", "schedule", "reductions", "buffer")
ROWS = ("pytorch", "trainer", "accelerate", "lightning", "deepspeed", "fsdp2", "torchtune", "keras", "optax")
NAMES = {
    "pytorch": "PyTorch, DDP",
    "trainer": "Transformers Trainer",
    "accelerate": "Accelerate",
    "lightning": "Lightning",
    "deepspeed": "DeepSpeed",
    "fsdp2": "FSDP2",
    "torchtune": "torchtune",
    "keras": "Keras",
    "optax": "optax MultiSteps",
}
# The mean of the two micro-batches left over is 9.5; a framework that carries them on adds 1 and 2 of the next epoch.
LEFT_OVER = {9.5: "full", 4.75: "too_small", 5.5: "carried", 29.0: "into_next"}


@cache
def data() -> dict[str, Any]:
    """What was recorded."""
    recorded: dict[str, Any] = json.loads((DOCS / "data" / "frameworks.json").read_text(encoding="utf-8"))
    return recorded


def row(name: str) -> dict[str, tuple[str, bool]]:
    """The word of each column, and whether it comes from a run; the rest was read in source."""
    found = {column: (str(value), False) for column, value in data()["read"].get(name, {}).items() if column in COLUMNS}
    if name in data()["probes"]:
        found |= {column: (value, True) for column, value in _probed(data()["probes"][name]).items()}
    if name in data()["reductions"]:
        found["reductions"] = (_reductions(data()["reductions"][name]["per_window"]), True)
    # These hand their models to PyTorch's own DDP, whose reductions were counted.
    if name in ("trainer", "accelerate", "lightning"):
        found["reductions"] = ("last", True)
    if missing := set(COLUMNS) - set(found):
        raise PageError(f"the matrix has nothing for {name}: {', '.join(sorted(missing))}")
    return found


def _probed(probe: dict[str, Any]) -> dict[str, str]:
    """Words for numbers: see ``scripts/frameworks/toy.py`` for what was shown."""
    steps = data()["steps"]
    counts_targets = probe["unequal"] == 1.6
    whole_window = probe["updates"][0]
    divides = {2.5: "steps", 2.5 * steps: "nothing"}[whole_window]
    per_update = probe["schedule"][1] - probe["schedule"][0]
    return {
        "divides": "targets" if counts_targets else divides,
        "tokens": "yes" if counts_targets else "no",
        "last_window": LEFT_OVER[probe["updates"][2]],
        "schedule": {1: "updates", steps: "micro_batches"}[per_update],
        "buffer": "weights" if probe["buffer"] == "bfloat16" else probe["buffer"],
    }


def _reductions(per_window: float) -> str:
    return {1: "last", data()["steps"]: "every"}[per_window]


def version(name: str) -> str:
    """The version that was run, or read."""
    return str((data()["probes"].get(name) or data()["read"][name])["version"]).partition("+")[0]


def matrix_html(language: str) -> str:
    """A row a framework; what was read and not run carries a mark."""
    heads = [word("matrix.framework", language), *(word(f"matrix.{column}", language) for column in COLUMNS)]
    head = tag("tr", *(tag("th", text(label), scope="col") for label in heads))
    body = []
    for name in ROWS:
        named = [tag("bdi", text(part), lang="en", dir="ltr") for part in (NAMES[name], version(name))]
        label = tag("th", tag("br").join(named), scope="row")
        cells = [cell_html(column, *row(name)[column], language) for column in COLUMNS]
        body.append(tag("tr", label, *cells))
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="ga-matrix")


def cell_html(column: str, value: str, run: bool, language: str) -> str:
    """One cell in words."""
    mark = "" if run else " " + tag("sup", text(word("matrix.read_mark", language)))
    return tag("td", text(word(f"matrix.{column}.{value}", language)) + mark)
