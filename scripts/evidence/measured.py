"""Published peaks, row by row as their sources print them, and the kind of memory each of them read."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache

from paths import ROOT

TABLE = ROOT / "docs" / "data" / "measured.csv"
GIB = 1 << 30

KINDS = {
    # In this order: a row that names the allocator's own figure is that, even where it names the driver's beside it.
    "allocated": r"torch peak ALLOCATED|max_memory_allocated|mem-max-allocated|peak allocated",
    "active": r"peak memory ACTIVE",
    "reserved": r"max_memory_reserved|accelerator_memory_max \(reserved\)",
    "driver": r"nvidia-smi",
    "capacity": r"^CAPACITY",
    "summed": r"SUM over",
    "context": r"CUDA context only",
    "unstated": r"",
}
"""The kinds of memory, each with what the source or the notes of such a row say."""

DRIVER_BESIDE = re.compile(r"ALLOCATED; nvidia-smi ([\d.]+) GiB")


@dataclass(frozen=True)
class Row:
    """One published run; ``number`` is its place in the table, counted from 1, all else is the table's own text."""

    number: int
    source: str
    model: str
    params_b: str
    layers: str
    hidden: str
    seq: str
    micro_batch: str
    accum: str
    gpus: str
    precision: str
    optimizer: str
    checkpointing: str
    method: str
    rank: str
    attention: str
    measured_gib: str
    notes: str

    @property
    def kind(self) -> str:
        """Which memory was read."""
        said = (self.source, self.notes, self.model)
        return next(kind for kind, words in KINDS.items() if any(re.search(words, text) for text in said))

    @property
    def published(self) -> int | None:
        """The published peak in bytes; None where the source prints no size."""
        try:
            return round(float(self.measured_gib) * GIB)
        except ValueError:
            return None

    @property
    def driver_beside(self) -> int | None:
        """What the driver reported for the same run, in bytes, where the row says it beside the allocator's figure."""
        found = DRIVER_BESIDE.search(self.notes)
        return round(float(found[1]) * GIB) if found else None


@cache
def rows() -> tuple[Row, ...]:
    """All rows of the table, in its order."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        return tuple(Row(number, *cells.values()) for number, cells in enumerate(csv.DictReader(lines), 1))
