"""Result files: one JSON document for each run, written anew after every claim so that nothing measured is lost."""

from __future__ import annotations

import json
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.claims import CLAIMS

Document = dict[str, Any]
FORMAT = 1
# What a run can have come to. `running` in a file means that it was killed too hard to say so.
STATES = ("running", "complete", "interrupted")
# Settings that make a run something else than a measurement of this device.
ALTERED = ("broken", "memory_limit", "rehearse")
# Each breaks the window or its reduction; a verdict that stayed green would prove nothing.
BREAKS = ("division", "clearing", "summing", "no_sync")
PACKAGES = ("torch", "transformers", "peft")


def slug(text: str) -> str:
    """Text as a part of a file name.

    >>> slug("NVIDIA H100 80GB HBM3")
    'nvidia-h100-80gb-hbm3'
    """
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


def begin(model: str, device: Document, processes: Document, settings: Document) -> Document:
    """The document of a run that has measured nothing yet; `processes` are its ranks, nodes and backend."""
    return {
        "format": FORMAT,
        "state": "running",
        "date": datetime.now(UTC).date().isoformat(),
        "model": model,
        "device": device,
        **processes,
        "versions": {"python": platform.python_version(), **installed()},
        "settings": settings,
        "claims": {},
    }


def installed() -> dict[str, str]:
    """Versions of the packages that the figures depend on."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def file_name(document: Document) -> str:
    """Model, hardware and date: the name that tells one run from another.

    >>> file_name({"model": "llama-tiny", "device": {"name": "CPU x86_64 2 cores"}, "ranks": 2, "date": "2026-11-29"})
    'llama-tiny_cpu-x86-64-2-cores-2-ranks_2026-11-29.json'
    """
    ranks = f" {document['ranks']} ranks" if document["ranks"] > 1 else ""
    return f"{slug(document['model'])}_{slug(document['device']['name'] + ranks)}_{document['date']}.json"


def note(document: Document, name: str, measured: Document, *, stopped: Document | None = None) -> None:
    """Write a claim's figures and verdict into the document; `stopped` says why there may be fewer than wished."""
    verdict = CLAIMS[name].judge(measured, document["device"]["kind"])
    entry: Document = {"verdict": verdict, "measured": measured}
    if stopped is not None:
        entry["stopped"] = stopped
        if verdict == "inconclusive" or stopped["reason"] == "error":
            entry["verdict"] = "not_measured"
    document["claims"][name] = entry


def save(document: Document, path: Path) -> None:
    """Put the document in the place of the one before, whole at every moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)


def load(folder: Path) -> list[Document]:
    """Every result file of a folder, oldest first, with its name as ``file``."""
    paths = sorted(folder.glob("*.json"))
    documents = [json.loads(path.read_text(encoding="utf-8")) | {"file": path.name} for path in paths]
    return sorted(documents, key=lambda document: str(document["date"]))


def faults(document: Document, name: str) -> list[str]:
    """What keeps a result file from being shown: an unfinished run, an altered one, a verdict not its own."""
    found = []
    if document["format"] != FORMAT:
        found.append(f"{name} has format {document['format']}, not {FORMAT}")
    if document["state"] != "complete":
        found.append(f"{name} is of a run that was {document['state']}")
    found += [f"{name} was run with {one}" for one in ALTERED if document["settings"].get(one)]
    if name != file_name(document):
        found.append(f"{name} should be called {file_name(document)}")
    if missing := set(CLAIMS) ^ set(document["claims"]):
        found.append(f"{name} differs in its claims: {', '.join(sorted(missing))}")
    for claim, entry in document["claims"].items():
        again = CLAIMS[claim].judge(entry["measured"], document["device"]["kind"]) if claim in CLAIMS else None
        if entry["verdict"] in ("holds", "fails") and again != entry["verdict"]:
            found.append(f"{name} says that {claim} {entry['verdict']}, but its figures say {again}")
    return found
