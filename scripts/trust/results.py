"""Where measured figures go: one JSON file for each measure, below docs/data/reliability; a page shows them."""

import datetime as dt
import json
import platform
from pathlib import Path
from typing import Any

import gradaccum
from paths import RELIABILITY
from revision import git


def source() -> str:
    """What the package's source is, as git names its folder, and whether it was changed since."""
    return git("rev-parse", "--short=12", "HEAD:src/gradaccum") + ("-changed" if git("status", "--short", "src") else "")


def write_result(name: str, **measured: Any) -> Path:
    """Write a measure with its date and the versions it was taken with."""
    about = {
        "measure": name,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "source": source(),
        "gradaccum": gradaccum.__version__,
        "python": platform.python_version(),
    }
    RELIABILITY.mkdir(parents=True, exist_ok=True)
    target = RELIABILITY / f"{name}.json"
    target.write_text(json.dumps(about | measured, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return target
