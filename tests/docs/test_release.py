"""What the page downloads and runs: Pyodide's release, the project's wheel, the pins; each against its origin."""

import hashlib
import json
import re
import zipfile
from pathlib import Path

import pytest

import build_site
import gradaccum
import vendor
from paths import shared_assets

ROOT = Path(__file__).parents[2]
SHIPPED = shared_assets()
RELEASE = vendor.RELEASE.read_text(encoding="utf-8")
PINS = sorted(ROOT.glob("constraints/*.txt"))


@pytest.fixture(scope="module")
def lock():
    return json.loads((SHIPPED / "python" / "lock.json").read_text(encoding="utf-8"))


def npm_version(package):
    return json.loads((ROOT / "node_modules" / package / "package.json").read_text(encoding="utf-8"))["version"]


def test_the_release_module_is_the_one_made_from_the_npm_package():
    assert vendor.release_module() == RELEASE


def test_the_release_is_the_version_that_package_json_asks_for():
    asked = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["devDependencies"]["pyodide"]
    assert re.search(r'version = "(.+)"', RELEASE)[1] == asked == npm_version("pyodide")
    assert re.search(r'cdn = "(.+)"', RELEASE)[1].endswith(f"/pyodide@{asked}/")


@pytest.mark.parametrize("name", vendor.PYODIDE_FILES)
def test_the_site_serves_the_bytes_whose_hash_the_page_expects(name):
    expected = re.search(rf'"{re.escape(name)}": {{ integrity: "(.+)" }}', RELEASE)[1]
    assert vendor.integrity(SHIPPED / "pyodide" / name) == expected


def test_the_lock_file_names_our_wheel_alone_with_its_hash(lock):
    (package,) = lock["packages"].values()
    assert (package["name"], package["version"]) == ("gradaccum", gradaccum.__version__)
    wheel = SHIPPED / "python" / package["file_name"]
    assert package["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert {path.name for path in wheel.parent.iterdir()} == {"lock.json", wheel.name}


def test_the_lock_file_is_made_for_the_release_we_ship(lock):
    release = json.loads((ROOT / "node_modules" / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    assert lock["info"] == release["info"]


def test_the_wheel_is_the_same_bytes_on_every_build(lock, tmp_path):
    (package,) = lock["packages"].values()
    again = build_site.build_wheel(tmp_path / "wheel")
    assert hashlib.sha256(again.read_bytes()).hexdigest() == package["sha256"]


def test_every_calculator_names_the_wheel_that_was_tested(lock, language_pages):
    """In its footer, and by the bytes that lie on the site."""
    (package,) = lock["packages"].values()
    found = hashlib.sha256((SHIPPED / "python" / package["file_name"]).read_bytes()).hexdigest()
    shown = {
        path: [code.text for code in calculator.select(".ga-package .ga-wheel")]
        for path, page in language_pages.items()
        for calculator in page.select(".ga-calculator")
    }
    assert len(shown) > 2
    assert {tuple(hashes) for hashes in shown.values()} == {(found,)}


def test_the_wheel_holds_every_file_of_the_package(lock):
    (package,) = lock["packages"].values()
    with zipfile.ZipFile(SHIPPED / "python" / package["file_name"]) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("gradaccum/")}
    source = ROOT / "src"
    sources = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert held == sources


def test_the_npm_lock_names_no_address_to_download_from():
    packages = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert len(packages) > 1
    for name, package in packages.items():
        about = {key: value for key, value in package.items() if key != "funding"}
        assert "://" not in json.dumps(about), name
        assert "resolved" not in about, name


@pytest.mark.parametrize("file", PINS, ids=lambda path: path.name)
def test_every_line_of_the_constraints_is_one_exact_version(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines
    assert [line for line in lines if not re.match(r"[a-z0-9-]+==[^\s;*]+( ; .+)?$", line)] == []


def test_every_dependency_group_has_its_constraints():
    project = build_site.ROOT / "pyproject.toml"
    groups = re.search(r"\[dependency-groups\](.+?)\n\[", project.read_text(encoding="utf-8"), re.DOTALL)[1]
    assert {path.stem for path in PINS} == set(re.findall(r"^(\w+) = \[", groups, re.MULTILINE))
