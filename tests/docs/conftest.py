"""The sources of the pages and the site built from them."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from paths import SITE


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").exists():
        pytest.fail("The site is not built; run `make site`.")
    return SITE


@pytest.fixture(scope="session")
def built_pages(site: Path) -> dict[Path, BeautifulSoup]:
    """Every HTML page of the built site, parsed, by its path inside the site."""
    return {
        path.relative_to(site): BeautifulSoup(path.read_text(encoding="utf-8"), "lxml") for path in sorted(site.rglob("*.html"))
    }


@pytest.fixture(scope="session")
def language_pages(built_pages: dict[Path, BeautifulSoup]) -> dict[Path, BeautifulSoup]:
    """Those of them that stand under a language."""
    return {path: page for path, page in built_pages.items() if len(path.parts) > 1}
