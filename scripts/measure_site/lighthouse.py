"""Lighthouse's scores for one page of each kind: its mobile preset, on the throttled line that it simulates."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from measure_site.pages import KINDS, LANGUAGES
from provide_browser import find_browser

FOLDER = Path(__file__).parent
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
METRICS = (
    "first-contentful-paint",
    "largest-contentful-paint",
    "total-blocking-time",
    "cumulative-layout-shift",
    "speed-index",
)
# Seconds for one run, on a busy machine.
PATIENCE = 120
# The simulated line is too slow for Python to be fetched unasked; the browser's own idea of its line must agree with it.
FLAGS = "--headless=new --no-sandbox --disable-gpu --disable-background-networking --force-effective-connection-type=3G"


def measure(address: str, runs: int) -> list[dict[str, Any]]:
    """The scores of each page, from the run whose performance is the median."""
    install()
    return [
        {"language": language, "kind": kind, "page": f"{language}/{path}", **measured(f"{address}{language}/{path}", runs)}
        for kind, path in KINDS.items()
        for language in LANGUAGES
    ]


def install() -> None:
    """Install Lighthouse where it is missing."""
    if not (FOLDER / "node_modules" / "lighthouse").is_dir():
        subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=FOLDER, check=True)


def measured(address: str, runs: int) -> dict[str, Any]:
    """The scores of a page, or why there are none: one page that fails must not cost the others theirs."""
    try:
        return median(address, runs)
    except (subprocess.SubprocessError, ValueError) as failure:
        print(address, failure, flush=True)
        return {"failure": type(failure).__name__}


def median(address: str, runs: int) -> dict[str, Any]:
    """The middle one of several runs."""
    found = sorted((run(address) for _ in range(runs)), key=lambda one: int(one["scores"]["performance"]))
    return found[len(found) // 2]


def run(address: str) -> dict[str, Any]:
    """One run."""
    command = ["node", str(FOLDER / "node_modules" / "lighthouse" / "cli" / "index.js"), address, "--quiet", "--output=json"]
    command += [f"--only-categories={','.join(CATEGORIES)}", f"--chrome-flags={FLAGS}"]
    environment = {**os.environ, "CHROME_PATH": str(find_browser())}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", check=True, timeout=PATIENCE
    )
    report = json.loads(done.stdout)
    scores = {name: round(report["categories"][name]["score"] * 100) for name in CATEGORIES}
    print(address, scores, flush=True)
    return {
        "scores": scores,
        "metrics": {name: round(report["audits"][name]["numericValue"], 3) for name in METRICS},
        "missed": missed(report),
    }


def missed(report: dict[str, Any]) -> list[str]:
    """The audits that cost a point outside performance, whose score is a mean of times."""
    counted = [
        reference["id"]
        for name in CATEGORIES[1:]
        for reference in report["categories"][name]["auditRefs"]
        if reference["weight"] > 0
    ]
    return sorted({name for name in counted if report["audits"][name]["score"] not in {1, None}})


def version() -> str:
    """The version of Lighthouse in use."""
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    return str(package["devDependencies"]["lighthouse"])
