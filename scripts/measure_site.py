"""Measure the built site in a browser and write what was found into docs/data/site, which evidence/site shows.

``python scripts/measure_site.py`` measures everything; ``python scripts/measure_site.py weight typing`` some of it.
"""

import argparse
import datetime as dt
import json
import os
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from measure_site import boot, lighthouse, snapshot, typing_speed, weight
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
    parser.add_argument("parts", nargs="*", choices=[*ALL, []], help="which (default: all)")
    parser.add_argument("--runs", type=int, default=3, help="runs of Lighthouse for each page (default: %(default)s)")
    arguments = parser.parse_args()
    wanted = arguments.parts or ALL
    with Server() as server:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
            for name, measure in PARTS.items():
                if name in wanted:
                    write(name, browser.version, measure(browser, server))
            version = browser.version
            browser.close()
        if "snapshot" in wanted:
            write("snapshot", version, snapshot.measure())
        if "lighthouse" in wanted:
            write("lighthouse", version, lighthouse.measure(server.address, arguments.runs), runs=arguments.runs)


def write(name: str, chromium: str, found: Any, **more: Any) -> None:
    """Write one result file."""
    pyodide = json.loads((NODE_MODULES / "pyodide" / "package.json").read_text(encoding="utf-8"))["version"]
    result = {
        "name": name,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "commit": commit(),
        "machine": {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)},
        "versions": {"chromium": chromium, "lighthouse": lighthouse.version(), "pyodide": pyodide},
        **more,
        "found": found,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{name}: written", flush=True)


if __name__ == "__main__":
    main()
