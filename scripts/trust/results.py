"""Where measured figures go: one JSON file for each measure, below docs/data/reliability; a page shows them."""

import datetime as dt
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import gradaccum

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "data" / "reliability"


def write_result(name: str, **measured: Any) -> Path:
    """Write a measure with its date and the versions it was taken with."""
    described = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    commit = subprocess.run(described, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    about = {
        "measure": name,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "commit": commit,
        "gradaccum": gradaccum.__version__,
        "python": platform.python_version(),
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    target = RESULTS / f"{name}.json"
    target.write_text(json.dumps(about | measured, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return target
