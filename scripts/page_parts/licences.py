"""Everything that this site ships to a reader's browser, with version and licence as the installed packages state them.

``rows`` prints the tables of reference/licences; ``write_texts`` puts the licence texts beside the other shared files. A test
looks at each file of the built site, and fails at one that no part here claims.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import gradaccum
from fonts import FONTS
from page_parts.answers import PageError
from page_parts.markup import tag, text
from paths import NODE_MODULES, ROOT, SHARED_ASSETS

FOLDER = SHARED_ASSETS / "licences"
# D3's own dependencies that its file for browsers leaves out: they serve a command line.
COMMAND_LINE = {"commander", "iconv-lite", "rw", "safer-buffer"}
# The theme's files are bundles of these, at the versions that the theme was built with; its source maps name them.
IN_THEME = {
    "clipboard": ("MIT", "https://github.com/zenorocha/clipboard.js"),
    "escape-html": ("MIT", "https://github.com/component/escape-html"),
    "focus-visible": ("W3C-20150513", "https://github.com/WICG/focus-visible"),
    "lunr": ("MIT", "https://github.com/olivernn/lunr.js"),
    "material-design-color": ("MIT", "https://www.npmjs.com/package/material-design-color"),
    "rxjs": ("Apache-2.0", "https://github.com/ReactiveX/rxjs"),
    "tslib": ("0BSD", "https://github.com/microsoft/tslib"),
}
NAMES = ("LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE")


@dataclass(frozen=True)
class Part:
    """Something shipped: its name and version, its licence, where it comes from, and its text or the address of one."""

    name: str
    version: str
    licence: str
    home: str
    text: Path | str
    group: str

    @property
    def file(self) -> str:
        """The name of its licence's file on the site."""
        return re.sub(r"[^a-z0-9.-]+", "-", self.name.lower()).strip("-") + ".txt"


def rows(group: str) -> str:
    """The rows of one group's table in Markdown: name, version, licence."""
    found = [part for part in parts() if part.group == group]
    if not found:
        raise PageError(f"nothing shipped is called {group!r}; there are {sorted({part.group for part in parts()})}")
    return "\n".join(f"| {' | '.join(_cells(part))} |" for part in found)


def _cells(part: Part) -> list[str]:
    # From reference/licences/ below a language to what both languages share.
    address = part.text if isinstance(part.text, str) else f"../../../{(FOLDER / part.file).as_posix()}"
    return [
        tag("a", tag("bdi", text(part.name), lang="en"), href=part.home),
        tag("bdi", text(part.version), dir="ltr"),
        tag("a", tag("bdi", text(part.licence), lang="en"), href=address, class_="ga-whole"),
    ]


def write_texts(site: Path) -> None:
    """Put the text of each licence that a package holds where the page links to it."""
    folder = site / FOLDER
    folder.mkdir(parents=True)
    for part in parts():
        if isinstance(part.text, Path):
            (folder / part.file).write_bytes(part.text.read_bytes())


@cache
def parts() -> tuple[Part, ...]:
    """Every part, in the order of the page."""
    return (_own(), *_python(), *_front_end(), *_fonts(), *_theme())


def _own() -> Part:
    return Part("gradaccum", gradaccum.__version__, "MIT", "https://github.com/gradaccum/gradaccum", ROOT / "LICENSE", "own")


def _python() -> Iterator[Part]:
    """Pyodide, and what is compiled into it. Its package holds no licence texts, so these are links."""
    package, release = _npm("pyodide"), _read(NODE_MODULES / "pyodide" / "pyodide-lock.json")["info"]
    python, emscripten = release["python"], release["platform"].removeprefix("emscripten_").replace("_", ".")
    mozilla = "https://www.mozilla.org/MPL/2.0/"
    yield Part("Pyodide", package["version"], package["license"], "https://github.com/pyodide/pyodide", mozilla, "python")
    minor = ".".join(python.split(".")[:2])
    licence = f"https://docs.python.org/{minor}/license.html"
    yield Part("CPython", python, "PSF-2.0", "https://www.python.org/", licence, "python")
    source = "https://github.com/emscripten-core/emscripten"
    yield Part("Emscripten, musl", emscripten, "MIT", source, f"{source}/blob/{emscripten}/LICENSE", "python")


def _front_end() -> Iterator[Part]:
    """KaTeX with its fonts, Plot and D3, and every package whose code is inside their files for browsers."""
    yield _from_npm("katex", "formulas")
    for name in sorted((_closure("@observablehq/plot") | _closure("d3")) - COMMAND_LINE):
        yield _from_npm(name, "pictures")


def _fonts() -> Iterator[Part]:
    for package in dict.fromkeys(package for package, *_ in FONTS):
        yield _from_npm(f"@fontsource/{package}", "fonts")


def _theme() -> Iterator[Part]:
    """Material for MkDocs, what its files bundle, and the icons it draws."""
    name = "mkdocs-material"
    package = metadata.distribution(name)
    home = "https://github.com/squidfunk/mkdocs-material"
    licence = next(
        Path(str(file.locate())) for file in package.files or [] if file.name == "LICENSE" and "dist-info" in str(file)
    )
    yield Part("Material for MkDocs", package.version, "MIT", home, licence, "theme")
    icons = Path(str(package.locate_file("material"))) / "templates" / ".icons" / "material" / "LICENSE"
    symbols = "https://github.com/Templarian/MaterialDesign"
    yield Part("Material Design Icons", f"{name} {package.version}", "Apache-2.0", symbols, icons, "theme")
    for bundled, (spdx, source) in IN_THEME.items():
        yield Part(bundled, f"{name} {package.version}", spdx, source, f"https://spdx.org/licenses/{spdx}.html", "theme")


def _from_npm(name: str, group: str) -> Part:
    package, folder = _npm(name), NODE_MODULES / name
    licence = next((folder / file for file in NAMES if (folder / file).is_file()), None)
    if licence is None:
        raise PageError(f"{name} holds no licence text")
    home = package.get("homepage") or f"https://www.npmjs.com/package/{name}"
    return Part(name, package["version"], package["license"], home, licence, group)


def _closure(name: str) -> set[str]:
    """The package and all that it depends on."""
    return {name}.union(*(_closure(needed) for needed in _npm(name).get("dependencies", {})))


@cache
def _npm(name: str) -> dict[str, Any]:
    return dict(_read(NODE_MODULES / name / "package.json"))


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
