"""The same requests, asked of every Python there is and of Pyodide: all answers must be the same to the byte. `make parity`.

Pythons are named on the command line, by name or path; Pyodide runs the wheel that the site serves.
"""

import argparse
import json
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from random import Random
from typing import Any

from paths import BUILD, ROOT, shared_assets
from trust import invariants
from trust.generate import request
from trust.results import write_result

FOLDER = BUILD / "parity"
REQUESTS = FOLDER / "requests.txt"
PROGRAM = "scripts/trust/answers.py"
SHOWN = 20_000
"""Requests from which on a comparison is shown on the page; a shorter one is a trial."""


def write_requests(number: int, seed: int) -> list[str]:
    """One request to a line, as a JSON text, so that it may hold anything."""
    source = Random(seed)
    found = [request(source) for _ in range(number)]
    FOLDER.mkdir(parents=True, exist_ok=True)
    REQUESTS.write_text("".join(json.dumps(text) + "\n" for text in found), encoding="ascii")
    return found


def digests_of(command: list[str], name: str) -> tuple[dict[str, str], list[str], float]:
    """Start a Python; which one it says it is, its digests, and the seconds it took."""
    target = FOLDER / f"{name}.txt"
    target.unlink(missing_ok=True)
    start = time.monotonic()
    subprocess.run(
        [*command, PROGRAM, str(REQUESTS.relative_to(ROOT)), str(target.relative_to(ROOT))],
        cwd=ROOT,
        check=True,
        env={"PYTHONPATH": "src", "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"},
    )
    about, *digests = target.read_text(encoding="ascii").splitlines()
    return json.loads(about), digests, time.monotonic() - start


def main() -> None:
    """Ask all, compare, write the result; fail where one differs."""
    parser = argparse.ArgumentParser(description="Ask every Python the same and compare the bytes.")
    parser.add_argument("pythons", nargs="*", help="beside the one that runs this")
    parser.add_argument("--requests", type=int, default=SHOWN)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    asked = write_requests(options.requests, options.seed)
    node = shutil.which("node")
    if node is None:
        raise SystemExit("Pyodide needs Node.")
    inside = [node, "scripts/pyodide_pytest.mjs", str(shared_assets() / "python"), sysconfig.get_path("purelib")]
    commands = {"here": [sys.executable], "pyodide": inside}
    commands |= {f"python{place}": [path] for place, path in enumerate(options.pythons)}
    rows: list[dict[str, Any]] = []
    first: list[str] = []
    different: dict[int, str] = {}
    for name, command in commands.items():
        about, digests, seconds = digests_of(command, name)
        first = first or digests
        unequal = [place for place, pair in enumerate(zip(first, digests, strict=True)) if len(set(pair)) > 1]
        different |= {place: asked[place] for place in unequal}
        rows.append(about | {"answers": len(digests), "different": len(unequal), "seconds": round(seconds)})
        print(json.dumps(rows[-1]), flush=True)
    for place, text in list(different.items())[:20]:
        print(place, text[:400])
    counts = Counter(kind_of(text) for text in asked)
    figures = {"requests": len(asked), "different": len(different), "kinds": dict(sorted(counts.items()))}
    if len(asked) >= SHOWN:
        write_result("parity", seed=options.seed, figures=figures, rows=rows)
    sys.exit(1 if different else 0)


def kind_of(text: str) -> str:
    """The calculator a request names, as far as it can be read."""
    try:
        name = json.loads(text)["calculator"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return "other"
    return name if isinstance(name, str) and name in invariants.RULES else "other"


if __name__ == "__main__":
    main()
