"""The unit and golden tests once more, inside Pyodide, against the wheel that the site serves: the reader's own Python.

Every inner test is an item of this run. One that is missing inside, or skipped there, is a failure.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from paths import shared_assets

ROOT = Path(__file__).parents[2]
SUITES = ("tests/unit", "tests/golden")
PROGRAM = "tests/pyodide/inner.py"
PACKAGE = shared_assets() / "python"
LINES_SHOWN = 40
TOOLS = sysconfig.get_path("purelib")


def outcomes(command, target, *options):
    """Start the inner program and return what it wrote down, how it ended, and the end of what it printed."""
    written = ROOT / target
    written.parent.mkdir(exist_ok=True)
    written.write_text("{}", encoding="utf-8")
    arguments = [*command, PROGRAM, target, *options, *SUITES]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    printed = f"{done.stdout}\n{done.stderr}".strip().splitlines()
    return json.loads(written.read_text(encoding="utf-8")), done.returncode, "\n".join(printed[-LINES_SHOWN:])


def pytest_generate_tests(metafunc):
    if "inner" in metafunc.fixturenames:
        collected, _, printed = outcomes([sys.executable], "build/collected.json", "--collect-only")
        assert collected, f"no test to run inside Pyodide was found:\n{printed}"
        metafunc.parametrize("inner", list(collected), ids=list(collected))


@pytest.fixture(scope="session")
def inside():
    # Node may be this environment's own, which is on PATH only when the environment was activated.
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    return outcomes([shutil.which("node", path=path), "scripts/pyodide_pytest.mjs", PACKAGE, TOOLS], "build/inside.json")


def test_the_run_inside_pyodide_reached_its_end(inside):
    ran, status, printed = inside
    assert ran, printed
    assert status in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}, printed
    assert not [entry["report"] for name, entry in ran.items() if "::" not in name]


def test_inside_pyodide(inside, inner):
    ran, _, _ = inside
    assert inner in ran, "collected by CPython, missing inside Pyodide"
    outcome, report = ran[inner]["outcome"], ran[inner]["report"]
    assert outcome == "passed", f"{outcome} inside Pyodide:\n{report}"
