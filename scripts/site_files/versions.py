"""The folder that both languages share, under a name that changes with what is in it.

A browser, and the worker that keeps the site, may then hold on to these files for good: another version has another address,
and a page of one version never meets a script of another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from paths import SHARED_ASSETS


def name_by_content(site: Path) -> Path:
    """Rename the shared folder, tell all pages, and return its new path inside the site."""
    files = sorted(path for path in (site / SHARED_ASSETS).rglob("*") if path.is_file())
    named = SHARED_ASSETS.with_name(f"{SHARED_ASSETS.name}-{digest(files, site)}")
    (site / SHARED_ASSETS).rename(site / named)
    old, new = f"{SHARED_ASSETS.as_posix()}/", f"{named.as_posix()}/"
    for path in sorted(site.rglob("*.html")):
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return named


def digest(paths: Iterable[Path], folder: Path) -> str:
    """Eight digits that change when the path in ``folder`` or the content of a file does."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:8]
