"""The calculators in Firefox: errors, the start of Python and keys, with ``firefox.mjs`` as the reader."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from measure_site import lighthouse
from measure_site.pages import LANGUAGES, VISITS
from measure_site.server import Server, content
from measure_site.typing_speed import CASES, PARTS, percentiles
from paths import shared_assets

NAMES = ("firefox-esr", "firefox")
HELP = """\
No Firefox was found.
Install it (on Debian: apt-get install firefox-esr), or say where it is:
    make firefox FIREFOX=/path/to/firefox"""


def find_firefox() -> str:
    """The path of Firefox."""
    named = os.environ.get("FIREFOX")
    found = shutil.which(named) if named else next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        sys.exit(HELP)
    return found


def measure(program: str, server: Server) -> dict[str, Any]:
    """For each calculator and language: milliseconds to the first answer, three times; those of keys; errors on the console."""
    lighthouse.install()  # What speaks to the browser stands beside it.
    for path in sorted((shared_assets() / "pyodide").iterdir()):
        content(path, server.address)  # Packing them takes seconds, which are no reader's.
    cases = [(name, language) for name in CASES for language in LANGUAGES]
    pages = [{"address": f"{server.address}{language}/{CASES[name][0]}", "field": CASES[name][1]} for name, language in cases]
    done = subprocess.run(
        ["node", str(Path(__file__).with_suffix(".mjs")), program],
        input=json.dumps({"pages": pages}),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    rows = [
        {"language": language, "calculator": name, **summed(page)}
        for (name, language), page in zip(cases, found["pages"], strict=True)
    ]
    return {"firefox": found["version"], "rows": rows}


def summed(page: dict[str, Any]) -> dict[str, Any]:
    """One page's figures."""
    keys = {part: percentiles(sorted(round(key[part], 1) for key in page["keys"])) for part in PARTS}
    starts = {name: page[name] for name in VISITS}
    return {**starts, "rounds": len(page["keys"]), **keys, "faults": page["faults"]}
