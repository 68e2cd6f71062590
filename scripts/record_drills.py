"""Run the drills of the browser tests, and write how many were run and passed to docs/data/reliability.

``python scripts/record_drills.py`` after ``make site``; it needs the browser that ``make browser`` provides.
"""

import datetime as dt
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

from paths import RELIABILITY, ROOT
from revision import commit

DRILLS = {
    "network_drills": "tests/browser/test_drills.py",
}


def main() -> None:
    """Run each file of drills and record it; fail where one fails."""
    failed = 0
    RELIABILITY.mkdir(parents=True, exist_ok=True)
    for name, file in DRILLS.items():
        figures = run(file)
        failed += figures["drills"] - figures["passed"]
        record = {
            "name": name,
            "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
            "commit": commit(),
            "command": f"make test ARGS={file}",
            "figures": figures,
        }
        (RELIABILITY / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        print(f"{file}: {figures['passed']} of {figures['drills']} pass")
    sys.exit(failed > 0)


def run(file: str) -> dict[str, int]:
    """How many cases a file of tests holds, and how many of them pass."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        subprocess.run([sys.executable, "-m", "pytest", "-q", file, f"--junitxml={results}"], cwd=ROOT, check=False)
        (suite,) = ET.parse(results).getroot()  # noqa: S314 - pytest wrote it
    counts = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
    return {"drills": counts["tests"], "passed": counts["tests"] - counts["failures"] - counts["errors"] - counts["skipped"]}


if __name__ == "__main__":
    main()
