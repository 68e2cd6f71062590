"""Measure the built site in a browser and write what was found into docs/data/site, which evidence/site shows.

``python scripts/measure_site.py`` measures everything in Chromium; ``python scripts/measure_site.py weight typing`` some of it;
``python scripts/measure_site.py firefox`` the calculators in Firefox.
"""

import argparse
import datetime as dt
import json
import os
import sys
import traceback
from collections.abc import Callable
from subprocess import SubprocessError
from typing import Any

from playwright.sync_api import Browser, Error, sync_playwright

from measure_site import boot, firefox, lighthouse, snapshot, typing_speed, weight
from measure_site.server import Server
from paths import DOCS, NODE_MODULES
from provide_browser import find_browser
from revision import commit

RESULTS = DOCS / "data" / "site"
PARTS: dict[str, Callable[[Browser, Server], Any]] = {
    "weight": weight.measure,
    "typing": typing_speed.measure,
    "boot": boot.measure,
}
ALL = [*PARTS, "snapshot", "lighthouse"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*ALL, "firefox", []], help="which (default: all but firefox)")
    parser.add_argument("--runs", type=int, default=1, help="runs of Lighthouse for each page (default: %(default)s)")
    arguments = parser.parse_args()
    wanted = arguments.parts or ALL
    program = firefox.find_firefox() if "firefox" in wanted else ""
    with Server() as server:
        tasks: dict[str, Callable[[], Any]] = {
            **{name: lambda measure=measure: in_chromium(measure, server) for name, measure in PARTS.items()},
            "snapshot": snapshot.measure,
            "lighthouse": lambda: lighthouse.measure(server.address, arguments.runs),
            "firefox": lambda: firefox.measure(program, server),
        }
        done = [attempt(name, task, arguments.runs) for name, task in tasks.items() if name in wanted]
    sys.exit(not all(done))


def attempt(name: str, task: Callable[[], Any], runs: int) -> bool:
    """Measure one part and write it down; one that fails must not cost the others theirs."""
    try:
        write(name, task(), **({"runs": runs} if name == "lighthouse" else {}))
    except (Error, OSError, SubprocessError, ArithmeticError, LookupError, ValueError):
        traceback.print_exc()
        return False
    return True


def in_chromium(measure: Callable[[Browser, Server], Any], server: Server) -> Any:
    """What a part finds in a browser of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        found = measure(browser, server)
        browser.close()
    return found


def chromium() -> str:
    """The version of Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        version = browser.version
        browser.close()
    return version


def write(name: str, found: Any, **more: Any) -> None:
    """Write one result file."""
    pyodide = json.loads((NODE_MODULES / "pyodide" / "package.json").read_text(encoding="utf-8"))["version"]
    result = {
        "name": name,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "commit": commit(),
        "machine": {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)},
        "versions": {"chromium": chromium(), "lighthouse": lighthouse.version(), "pyodide": pyodide},
        **more,
        "found": found,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{name}: written", flush=True)


if __name__ == "__main__":
    main()
