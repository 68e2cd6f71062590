"""What git says of the working copy."""

from __future__ import annotations

import subprocess

from paths import ROOT


def git(*arguments: str) -> str:
    """The output of a command, run in the project's folder."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit() -> str:
    """The short name of the last commit."""
    return git("rev-parse", "--short", "HEAD")
