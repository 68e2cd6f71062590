"""Hold the recording against PyTorch again: on shapes, and for tiny models in real runs on the CPU."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .cells import METHODS, PRECISIONS, Bench, Cell, Point
from .configurations import Configuration
from .families import FAMILIES
from .recording import key, ledger_point, versions

STATISTICS = ("NativeLayerNorm.result1", "NativeLayerNorm.result2")


def recorded(folder: Path, family: str) -> dict[str, Any]:
    """One family's file, which must have been made by the versions installed here."""
    document: dict[str, Any] = json.loads((folder / f"{family}.json").read_text())
    if document["versions"] != versions():
        raise SystemExit(f"{family} was recorded with {document['versions']}; here are {versions()}.")
    return document


def groups(folder: Path, family: str) -> Iterator[tuple[Configuration, str, str, list[dict[str, Any]]]]:
    """The tiny configurations of a family, with the recorded cells of each precision and method."""
    models = {model["name"]: model for model in recorded(folder, family)["models"]}
    for configuration in FAMILIES[family]:
        if configuration.published:
            continue
        for precision in PRECISIONS:
            for method in METHODS:
                cells = models[configuration.name]["cells"]
                yield (
                    configuration,
                    precision,
                    method,
                    [c for c in cells if (c["precision"], c["method"]) == (precision, method)],
                )


def cell_of(record: dict[str, Any]) -> Cell:
    """The switches of a recorded cell."""
    return Cell(record["attention"], record["padded"], record["checkpointing"])


def shape_differences(folder: Path, family: str, *, every: int = 4) -> list[str]:
    """What comes out otherwise than recorded: every tiny cell's saved bytes and ledger, the peaks of one in `every`."""
    found = []
    number = 0
    for configuration, precision, method, records in groups(folder, family):
        bench = Bench(configuration, precision, method)
        for record in records:
            bench.switch(cell_of(record))
            again = again_measured(bench, record, peaks=number % every == 0)
            number += 1
            found += [
                f"{configuration.name} {precision} {method} {cell_of(record)} {name}: {value} now"
                for name, value in again.items()
                if value != record[name] and not (isinstance(value, dict) and value.items() <= record[name].items())
            ]
    return found if number else [f"{family}: no cell is recorded"]


def again_measured(bench: Bench, record: dict[str, Any], *, peaks: bool) -> dict[str, Any]:
    """The parts of a record that are derived again."""
    point, cell = ledger_point(bench.configuration), cell_of(record)
    saved, ledger = bench.saved(point, cell, ledger=True)
    again: dict[str, Any] = {
        "parameters": bench.parameters,
        "trainable_parameters": sum(parameter.numel() for parameter in bench.trainable),
        "saved": {key(point): saved},
        "ledger": ledger,
    }
    if peaks:
        last: Point = bench.configuration.peak_points[-1]
        again |= {"peaks": {key(last): bench.peaks(last, cell)}, "adamw": bench.adamw()}
    return again


def cpu_bytes(record: dict[str, Any], point: Point) -> int:
    """What a real run on the CPU keeps, from a recorded cell: its bf16 LayerNorm has its statistics in bf16, not fp32."""
    halved = 0
    if record["precision"] == "bf16":
        halved = sum(row[-1] for row in record["ledger"] if row[3] in STATISTICS and row[5] == "float32") // 2
    return int(record["saved"][key(point)]) - halved


def cpu_differences(folder: Path, family: str) -> list[str]:
    """Real runs on the CPU against the recording: pure precisions, eager attention, every tiny cell.

    SDPA is left out: on a CPU it has kernels of its own, so what it keeps says nothing about CUDA.
    """
    found = []
    number = 0
    for configuration, precision, method, records in groups(folder, family):
        if precision not in ("bf16", "fp32"):
            continue
        bench = Bench(configuration, precision, method, device="cpu")
        point = ledger_point(configuration)
        for record in records:
            if record["attention"] == "eager":
                bench.switch(cell_of(record))
                number += 1
                real, expected = bench.saved(point, cell_of(record))[0], cpu_bytes(record, point)
                if real != expected:
                    found.append(
                        f"{configuration.name} {precision} {method} {cell_of(record)}: {real}, not {expected}, "
                        f"{real - expected:+} on the CPU"
                    )
    return found if number else [f"{family}: no cell was run"]
