"""What the commands that measure the site say when they cannot measure, and how the page shows it."""

import subprocess

import pytest

from measure_site import firefox, lighthouse
from page_parts import site


def test_a_missing_firefox_is_said_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("FIREFOX", raising=False)
    with pytest.raises(SystemExit, match=r"No Firefox was found\.\nInstall it .*\n.*make firefox FIREFOX="):
        firefox.find_firefox()
    program = tmp_path / "firefox"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    assert firefox.find_firefox() == str(program)


def test_a_page_that_lighthouse_fails_on_costs_the_others_nothing(monkeypatch):
    def run(address):
        if "en/" in address:
            raise subprocess.TimeoutExpired("lighthouse", 1)
        return {"scores": {"performance": 97}}

    monkeypatch.setattr(lighthouse, "install", lambda: None)
    monkeypatch.setattr(lighthouse, "run", run)
    found = lighthouse.measure("http://here/", 1)
    assert {row["language"]: row.get("failure") for row in found} == {"ar": None, "en": "TimeoutExpired"}


def test_a_line_without_times_is_marked(monkeypatch):
    rows = [
        {"line": "cable", "bits": 50_000_000, "delay": 10, "first": 4200, "files": 2100, "memory": 900},
        {"line": "slow_4g", "bits": 1_600_000, "delay": 150, "failure": "Python did not start"},
    ]
    monkeypatch.setattr(site, "result", lambda _: {"found": rows})
    measured, failed = site.starts("en")
    assert ["4.2 s" in measured[3], "2.1 s" in measured[4], "0.9 s" in measured[5]] == [True] * 3
    assert len(failed) == len(measured)
    assert "ga-fails" in failed[3]
