"""The HTML of one page of each kind is valid; `make html` checks them all."""

import shutil
import subprocess

import pytest

from paths import ROOT

KINDS = [
    "en/index.html",
    "ar/learn/faq/index.html",
    "en/learn/pitfalls/clipping/index.html",
    "ar/evidence/accuracy/index.html",
    "index.html",
    "404.html",
    "ar/404.html",
]


def check(folder):
    command = ["node", ROOT / "scripts" / "check_html.mjs", folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_pages_of_each_kind_are_valid(site, tmp_path):
    for name in KINDS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(site / name, tmp_path / name)
    done = check(tmp_path)
    assert done.returncode == 0, done.stdout
    assert f"{len(KINDS)} files" in done.stdout


@pytest.mark.parametrize("body, rule", [("<p><div></div></p>", "no-implicit-close"), ('<img src="a.png">', "wcag/h37")])
def test_check_sees_a_fault(tmp_path, body, rule):
    (tmp_path / "index.html").write_text(
        f'<!doctype html><html lang="en"><head><title>A</title></head><body>{body}</body></html>'
    )
    done = check(tmp_path)
    assert done.returncode == 1
    assert rule in done.stdout
