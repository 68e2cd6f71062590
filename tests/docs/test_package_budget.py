"""Two promises of the package: no module is long, and importing it loads nothing but the standard library."""

import shutil
import subprocess
import sys

import pytest

from paths import ROOT

SOURCES = ROOT / "src"
LONGEST = 250

# Run in an interpreter without site-packages, so that nothing else can have been imported before.
IMPORT_EVERYTHING = """
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
import gradaccum
for module in pkgutil.walk_packages(gradaccum.__path__, "gradaccum."):
    if not module.name.endswith("__main__") and ".torch" not in module.name:
        importlib.import_module(module.name)
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(loaded - set(sys.stdlib_module_names) - {"gradaccum"}))
"""


def too_long(folder):
    return [path.name for path in sorted(folder.rglob("*.py")) if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST]


def outsiders(folder):
    """Modules from outside the standard library that importing the package in ``folder`` loads."""
    command = [sys.executable, "-I", "-S", "-c", IMPORT_EVERYTHING, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_no_module_is_longer_than_the_budget():
    assert len(list((SOURCES / "gradaccum").rglob("*.py"))) > 5
    assert too_long(SOURCES / "gradaccum") == []


@pytest.mark.parametrize("lines, found", [(LONGEST, []), (LONGEST + 1, ["module.py"])])
def test_a_longer_module_is_found(tmp_path, lines, found):
    (tmp_path / "module.py").write_text("x = 1\n" * lines, encoding="utf-8")
    assert too_long(tmp_path) == found


@pytest.mark.cpython_only
def test_importing_the_package_loads_only_the_standard_library():
    assert outsiders(SOURCES) == []


@pytest.mark.cpython_only
@pytest.mark.parametrize("module", ["accumulation.py", "calculators/updates.py"])
def test_an_import_from_outside_is_found(tmp_path, module):
    shutil.copytree(SOURCES / "gradaccum", tmp_path / "gradaccum")
    (tmp_path / "outsider.py").touch()
    source = tmp_path / "gradaccum" / module
    source.write_text(source.read_text(encoding="utf-8") + "\nimport outsider\n", encoding="utf-8")
    assert outsiders(tmp_path) == ["outsider"]
