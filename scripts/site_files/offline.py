"""What makes the site installable and keeps it without a network: a manifest for each language, and the service worker."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from paths import DOCS, shared_assets
from postbuild import configured
from search_index import description_in
from site_files.versions import digest

LANGUAGES = {"ar": "rtl", "en": "ltr"}
# The name under an icon has room for some twelve letters.
SHORT_NAMES = {"ar": "تراكم", "en": "gradaccum"}
COLOURS = {"theme_color": "#0b6b66", "background_color": "#ffffff"}
ICON = re.compile(r"icon(?P<maskable>-maskable)?(?:-(?P<size>\d+)\.png|\.svg)")
# Of the shared files those that a page may load once it is open: no licences, no pictures for other sites, no whole fonts.
KEPT = re.compile(r"\.(?:css|mjs|js|json|whl)$|\.core\.woff2$|KaTeX_Size[^/]*\.woff2$")
LEFT_OUT = ("pyodide/",)
# The theme's own, in each language's folder.
THEME = (
    "assets/javascripts/bundle.*.min.js",
    "assets/javascripts/workers/search.*.js",
    "assets/*.mjs",
    "assets/images/*.svg",
)


def write_manifests(site: Path) -> None:
    """Write ``site.webmanifest`` for each language, with the icons that there are."""
    for language, direction in LANGUAGES.items():
        home = (site / language / "index.html").read_text(encoding="utf-8")
        manifest: dict[str, Any] = {
            "id": "./",
            "name": configured("site_name", language),
            "short_name": SHORT_NAMES[language],
            "description": description_in(home),
            "lang": language,
            "dir": direction,
            "start_url": "./",
            "scope": "../",
            "display": "minimal-ui",
            **COLOURS,
            "icons": icons(site),
        }
        text = json.dumps(manifest, ensure_ascii=False, indent=1)
        (site / language / "site.webmanifest").write_text(text, encoding="utf-8")


def icons(site: Path) -> list[dict[str, str]]:
    """The icon of the site at any size, and its pictures of given sizes, as seen from a language's folder."""
    images = shared_assets(site) / "images"
    found = []
    for path in sorted(images.glob("icon*")):
        if match := ICON.fullmatch(path.name):
            src = f"../{path.relative_to(site).as_posix()}"
            kind, sizes = ("image/png", f"{match['size']}x{match['size']}") if match["size"] else ("image/svg+xml", "any")
            purpose = {"purpose": "maskable"} if match["maskable"] else {}
            found.append({"src": src, "type": kind, "sizes": sizes, **purpose})
    return found


def write_worker(site: Path) -> None:
    """Write ``worker.js``, which names the files to keep and changes when one of them does."""
    shared = shared_assets(site)
    files = [path for path in sorted(shared.rglob("*")) if path.is_file() and is_kept(path.relative_to(shared).as_posix())]
    files += [path for language in LANGUAGES for pattern in THEME for path in sorted((site / language).glob(pattern))]
    files += [path for language in LANGUAGES for path in [site / language / "index.html", site / language / "sitemap.xml"]]
    pages = {language: pages_with_calculator(site / language) for language in LANGUAGES}
    version = digest([*files, *(page for of_language in pages.values() for page in of_language)], site)
    text = (DOCS / "root" / "worker.js").read_text(encoding="utf-8")
    for name, value in {
        "{version}": version,
        "{files}": json.dumps([address(path, site) for path in files]),
        "{pages}": json.dumps({language: [address(path, site) for path in paths] for language, paths in pages.items()}),
    }.items():
        text = text.replace(name, value, 1)
    (site / "worker.js").write_text(text, encoding="utf-8")


def is_kept(path: str) -> bool:
    """Whether a shared file, by its path in the shared folder, is one to keep."""
    return KEPT.search(path) is not None and not path.startswith(LEFT_OUT)


def pages_with_calculator(folder: Path) -> list[Path]:
    """The pages of a language whose calculators must work without a network."""
    return [path for path in sorted(folder.rglob("index.html")) if 'class="ga-calculator' in path.read_text(encoding="utf-8")]


def address(path: Path, site: Path) -> str:
    """A file as the worker asks for it."""
    return path.relative_to(site).as_posix().removesuffix("index.html")
