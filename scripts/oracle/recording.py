"""The recording: one JSON file for each family, filled cell by cell, so that a stopped run goes on where it was."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .cells import METHODS, PRECISIONS, Bench, Cell, Point, cells
from .configurations import Configuration
from .families import FAMILIES

HEADER = {
    "about": "Traced with PyTorch's CUDA code paths on shapes only; no kernel ran and no GPU was measured.",
    "config": "fields that differ from the defaults of this class's configuration in Transformers",
    "saved": "bytes of distinct storages autograd keeps in forward, parameters and buffers left out, key 'b,s'",
    "peaks": "key 'b,s': [start, peak, end] live bytes of first forward, first backward, second forward, "
    "second backward; parameters left out, inputs counted",
    "adamw": "bytes: gradients, state, extra in the first and in later steps",
    "ledger": "rows: scope, module, class, operator.slot, shape, dtype, count, bytes",
    "lora": "peft, rank 16, every linear layer but the output head; the head stays frozen",
    "padded": "an attention mask with padding is given; flash takes none",
}


def versions() -> str:
    """What the recording depends on."""
    return ", ".join(f"{name} {version(name).split('+')[0]}" for name in ("torch", "transformers", "peft"))


def measure(bench: Bench, cell: Cell, record: dict[str, Any], *, peaks: bool) -> None:
    """Add to `record` what it lacks."""
    configuration = bench.configuration
    bench.switch(cell)
    saved = record.setdefault("saved", {})
    for point in configuration.saved_points:
        if key(point) not in saved:
            with_ledger = point == ledger_point(configuration) and wants_ledger(configuration, cell)
            saved[key(point)], rows = bench.saved(point, cell, ledger=with_ledger)
            if with_ledger:
                record |= {"ledger_at": list(point), "ledger": rows}
    for point in configuration.peak_points if peaks else ():
        if key(point) not in record.setdefault("peaks", {}):
            record["peaks"][key(point)] = bench.peaks(point, cell)


def key(point: Point) -> str:
    """A point as a key of JSON objects."""
    return f"{point[0]},{point[1]}"


def ledger_point(configuration: Configuration) -> Point:
    """A point with b > 1 where there is one: b = 1 has special cases."""
    return configuration.saved_points[1]


def wants_ledger(configuration: Configuration, cell: Cell) -> bool:
    """Every tiny cell has one; of a published model only the usual setting."""
    return not configuration.published or cell == Cell("sdpa", padded=False, checkpointing="none")


def record_group(
    configuration: Configuration, precision: str, method: str, old: list[dict[str, Any]], *, peaks: bool
) -> list[dict[str, Any]]:
    """All cells of one model in one precision and with one method; `old` records are completed."""
    bench = Bench(configuration, precision, method)
    records = []
    adamw = next((record["adamw"] for record in old), None) or bench.adamw()
    for cell in cells(configuration, precision):
        names = {"attention": cell.attention, "padded": cell.padded, "checkpointing": cell.checkpointing}
        record = next((one for one in old if names.items() <= one.items()), None) or {
            **names,
            "precision": precision,
            "method": method,
            "parameters": bench.parameters,
            "trainable_parameters": sum(p.numel() for p in bench.trainable),
        }
        measure(bench, cell, record, peaks=peaks)
        record.setdefault("adamw", adamw)
        records.append(record)
    return records


def record_family(family: str, folder: Path, only: list[str], *, peaks: bool) -> None:
    """Write or complete one family's file."""
    path = folder / f"{family}.json"
    document = json.loads(path.read_text()) if path.exists() else {"versions": versions(), **HEADER, "models": []}
    if document["versions"] != versions():
        raise SystemExit(f"{path.name} was recorded with {document['versions']}: remove it to record it afresh.")
    for configuration in FAMILIES[family]:
        if only and configuration.name not in only:
            continue
        model = next((one for one in document["models"] if one["name"] == configuration.name), None)
        if model is None:
            model = {
                "name": configuration.name,
                "model_class": configuration.model_class_name,
                "head": configuration.head,
                "config": configuration.fields,
                "cells": [],
            }
            document["models"].append(model)
        for precision in PRECISIONS:
            for method in METHODS:
                old = [c for c in model["cells"] if (c["precision"], c["method"]) == (precision, method)]
                new = record_group(configuration, precision, method, old, peaks=peaks)
                model["cells"] = [c for c in model["cells"] if c not in old] + new
                folder.mkdir(parents=True, exist_ok=True)
                unfinished = path.with_suffix(".tmp")
                unfinished.write_text(json.dumps(document, separators=(",", ":")) + "\n")
                unfinished.replace(path)
                print(f"{configuration.name}: {precision}, {method}, {len(new)} cells", flush=True)
