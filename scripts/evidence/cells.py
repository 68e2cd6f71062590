"""The package's tape against the recordings of PyTorch, cell by cell."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from gradaccum.activations import saved_bytes, trace
from gradaccum.architecture import architecture
from gradaccum.catalogue import models
from gradaccum.families import FAMILIES
from gradaccum.setting import Setting
from gradaccum.training import PHASES
from paths import BUILD, ROOT

RECORDINGS = ROOT / "tests" / "oracle"
SWITCHES = ("attention", "padded", "checkpointing", "precision", "method")
# Published models that are recorded with Transformers' default sizes, so their recording does not name them.
DEFAULT_SIZES = {"gpt2": "gpt2", "bert-base-uncased": "bert-base-uncased", "vit-base-patch16-224": "vit-base-patch16-224"}
NEEDED = """
import sys, gradaccum.activations, gradaccum.architecture, gradaccum.catalogue
print(*(module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "gradaccum"), sep="\\n")
"""
"""Prints the files of the package that a trace depends on; the others may change without a new comparison."""


@dataclass(frozen=True)
class Cell:
    """One model under one setting, at a few (b, s).

    ``difference`` is the largest of |ours - recorded| saved bytes; ``saved`` the recorded bytes at the last point;
    ``peaks`` the largest |ours / recorded - 1| of each phase's peak, as a float to be shown, where peaks are recorded.
    """

    family: str
    model: str
    attention: str
    padded: bool
    checkpointing: str
    precision: str
    method: str
    points: int
    saved: int
    difference: int
    parameters: int
    peaks: tuple[float, ...]

    @property
    def worst(self) -> float:
        """The largest deviation of a peak."""
        return max(self.peaks, default=0.0)


def recordings() -> list[Path]:
    """The files, one for each family, and the sample that is kept apart."""
    return [*sorted((RECORDINGS / "recording").glob("*.json")), RECORDINGS / "recording-sample.json"]


def recorded(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Models of a recording with their configuration made whole, each with one of its cells."""
    for model in json.loads(path.read_text(encoding="utf-8"))["models"]:
        sizes = models()[DEFAULT_SIZES[model["name"]]]["config"] if model["name"] in DEFAULT_SIZES else {}
        config = {"model_type": path.stem} | sizes | model["config"]
        for cell in model["cells"]:
            yield model | {"config": config}, cell


def compared(model: dict[str, Any], cell: dict[str, Any]) -> Cell:
    """One cell, written down on the tape and held against its recording."""
    arch = architecture(model["config"], tuple(FAMILIES))
    setting = Setting(**{name: cell[name] for name in SWITCHES})
    recorded_peaks = cell.get("peaks", {})
    traces = {point: trace(arch, setting, *_sizes(point)) for point in recorded_peaks}
    # Where no peak is recorded the forward pass is enough.
    forward = {point: saved_bytes(arch, setting, *_sizes(point)) for point in cell["saved"] if point not in traces}
    ours = forward | {point: found.saved for point, found in traces.items()}
    peaks = [
        max(abs(traces[point].phases[phase].peak / spans[phase][1] - 1) for point, spans in recorded_peaks.items())
        for phase in range(len(PHASES))
        if traces
    ]
    return Cell(
        family=arch.model_type,
        model=model["name"],
        **{name: cell[name] for name in SWITCHES},
        points=len(cell["saved"]),
        saved=list(cell["saved"].values())[-1],
        difference=max(abs(ours[point] - size) for point, size in cell["saved"].items()),
        parameters=cell["parameters"],
        peaks=tuple(peaks),
    )


def _sizes(point: str) -> tuple[int, int]:
    b, s = map(int, point.split(","))
    return b, s


@cache
def cells() -> tuple[Cell, ...]:
    """Every recorded cell. Kept in ``build`` under a hash of the package and the recordings: it takes some seconds."""
    kept = BUILD / "evidence" / f"{_fingerprint()}.json"
    if kept.is_file():
        rows = json.loads(kept.read_text(encoding="utf-8"))
        return tuple(Cell(**row | {"peaks": tuple(row["peaks"])}) for row in rows)
    found = tuple(compared(model, cell) for path in recordings() for model, cell in recorded(path))
    kept.parent.mkdir(parents=True, exist_ok=True)
    for old in kept.parent.glob("*.json"):
        old.unlink()
    kept.write_text(json.dumps([asdict(cell) for cell in found]), encoding="utf-8")
    return found


@cache
def itemised() -> int:
    """Recorded cells that hold a line for each tensor, as tests/oracle compares them."""
    return sum("ledger" in cell for path in recordings() for _, cell in recorded(path))


def needed() -> list[Path]:
    """Files that a comparison depends on: this one, modules of the package, the catalogue's models, the recordings."""
    done = subprocess.run([sys.executable, "-c", NEEDED], capture_output=True, text=True, check=True)
    modules = sorted(map(Path, done.stdout.split("\n")[:-1]))
    return [Path(__file__), *modules, ROOT / "src" / "gradaccum" / "catalogue" / "models.json", *recordings()]


def _fingerprint() -> str:
    content = sha256()
    for path in needed():
        content.update(path.read_bytes())
    return content.hexdigest()[:16]
