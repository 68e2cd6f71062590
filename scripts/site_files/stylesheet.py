"""One stylesheet for all pages, which is all that a browser waits for before it paints."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from paths import SHARED_ASSETS
from site_files.css import used_rules, without_space

LINK = re.compile(r'<link rel="stylesheet" href="(?P<address>[^"]+)">\n?')
ADDRESS = re.compile(r'url\((?P<address>[^)"\']+)\)')
WORD = re.compile(r"[A-Za-z_-][\w-]*")
COMBINED = SHARED_ASSETS / "css" / "all.css"
LANGUAGES = ("ar", "en")


def combine_stylesheets(site: Path) -> None:
    """Let all pages load one stylesheet, made of those they loaded, without the theme's rules that none of them uses."""
    pages = [path for language in LANGUAGES for path in sorted((site / language).rglob("*.html"))]
    texts = {path: path.read_text(encoding="utf-8") for path in pages}
    loaded = {path: sheets_of(site, path, html) for path, html in texts.items()}
    wanted = {tuple(path.as_posix().removeprefix("ar/").removeprefix("en/") for path in sheets) for sheets in loaded.values()}
    if len(wanted) != 1:
        raise ValueError(f"the pages load different stylesheets: {sorted(wanted)}")
    words = words_of([*texts.values(), *scripts(site)])
    sheets = loaded[pages[0]]
    (site / COMBINED).write_text(combined(site, sheets, words), encoding="utf-8")
    for sheet in sheets:
        if sheet.is_relative_to(SHARED_ASSETS) and sheet.parent.name != "fonts":  # The root page loads that one alone.
            (site / sheet).unlink()
    for path, html in texts.items():
        address = posixpath.relpath(COMBINED.as_posix(), folder_of(site, path))
        where, plain = html.index('<link rel="stylesheet"'), LINK.sub("", html)
        path.write_text(f'{plain[:where]}<link rel="stylesheet" href="{address}">\n{plain[where:]}', encoding="utf-8")


def folder_of(site: Path, page: Path) -> str:
    """The folder that a page's addresses start from; a 404 page says in ``<base>`` that it is the language's."""
    return page.parent.relative_to(site).as_posix()


def sheets_of(site: Path, page: Path, html: str) -> list[Path]:
    """The stylesheets of a page, in their order, as paths inside the site."""
    folder = folder_of(site, page)
    return [Path(posixpath.normpath(posixpath.join(folder, match["address"]))) for match in LINK.finditer(html)]


def scripts(site: Path) -> Iterable[str]:
    """The scripts that may give an element a class: the theme's for the page, and ours."""
    for path in sorted(site.rglob("*.*js")):
        if {"pyodide", "plot", "workers", "lunr"}.isdisjoint(path.parts):
            yield path.read_text(encoding="utf-8")


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """All that could be the name of a class."""
    return frozenset(word for text in texts for word in WORD.findall(text))


def combined(site: Path, sheets: Iterable[Path], words: frozenset[str]) -> str:
    """The text of all sheets, their addresses as seen from the new one."""
    parts = []
    for sheet in sheets:
        css = (site / sheet).read_text(encoding="utf-8").removeprefix("\ufeff")
        ours = sheet.is_relative_to(SHARED_ASSETS)
        css = without_space(css) if ours else used_rules(css, words)
        parts.append(ADDRESS.sub(partial(moved, sheet=sheet), css).strip())
    return "\n".join(parts) + "\n"


def moved(match: re.Match[str], sheet: Path) -> str:
    """An address in ``sheet``, as the combined one must write it."""
    address = match["address"]
    if re.match(r"[a-z]+:|#|/", address):
        return match[0]
    target = posixpath.normpath(posixpath.join(sheet.parent.as_posix(), address))
    return f"url({posixpath.relpath(target, COMBINED.parent.as_posix())})"
