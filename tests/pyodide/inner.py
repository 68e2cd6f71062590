"""Collect or run tests and write what became of each; started by CPython and, with the same text, inside Pyodide."""

import json
import sys
from pathlib import Path

import pytest

# The project's own options name plugins that Pyodide lacks; its rules (warnings, markers) are read all the same.
OPTIONS = (
    "--override-ini=addopts=",
    "--import-mode=importlib",
    "--strict-markers",
    "--continue-on-collection-errors",
    "--capture=sys",
    "-q",
    "-mnot cpython_only",
    *(f"-pno:{plugin}" for plugin in ("cacheprovider", "faulthandler", "threadexception", "unraisableexception")),
)


class Ledger:
    """Keeps the outcome of every test by its id: "collected" until it ran, then the worst of its phases.

    A file whose tests cannot be collected stands there as well, under its own name.
    """

    def __init__(self):
        self.outcomes = {}

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes[report.nodeid] = {"outcome": "failed", "report": report.longreprtext}

    def pytest_collection_finish(self, session):
        self.outcomes |= {item.nodeid: {"outcome": "collected", "report": ""} for item in session.items}

    def pytest_runtest_logreport(self, report):
        entry = self.outcomes[report.nodeid]
        if report.when == "call" or report.outcome != "passed":
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            entry.update(outcome=report.outcome, report=reason)


def main(arguments):
    """Write the outcomes of `pytest ARGUMENTS` to the file named first; return pytest's exit status."""
    target, *selection = arguments
    ledger = Ledger()
    status = pytest.main([*OPTIONS, *selection], plugins=[ledger])
    Path(target).write_text(json.dumps(ledger.outcomes), encoding="utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
