"""Every link inside the built site leads to a page or file that is there, and every fragment to an element on it.

``python scripts/check_links.py [SITE]`` reads all HTML, style sheets, sitemaps and the manifest of the merged site, both
languages and the root, and prints what is broken. Other hosts are counted and not asked: a build must not need them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from paths import SITE
from postbuild import configured_base

ADDRESS = {
    "a": ["href"],
    "area": ["href"],
    "audio": ["src"],
    "form": ["action"],
    "iframe": ["src"],
    "img": ["src", "srcset"],
    "link": ["href"],
    "script": ["src"],
    "source": ["src", "srcset"],
    "use": ["href", "xlink:href"],
    "video": ["src", "poster"],
}
NOT_PLACES = ("mailto:", "data:", "javascript:", "blob:", "about:")
IN_STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)['\"]?\s*\)")
IN_SITEMAP = re.compile(r"(?:<loc>|href=\")([^<\"]+)")
# The calculators keep their inputs in the fragment, and an empty one is the top of the page.
STATE = re.compile(r"^$|=")


class Page(HTMLParser):
    """The links of a page, and what they can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.base = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take down ids, anchors and addresses."""
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given and (name == "id" or tag == "a")}
        if tag == "base":
            self.base = given.get("href", "")
        for name in ADDRESS.get(tag, []):
            if name == "srcset" and name in given:
                self.links += [part.split()[0] for part in given[name].split(",") if part.strip()]
            elif name in given:
                self.links.append(given[name])


PageAt = Callable[[Path], Page]


@dataclass
class Report:
    """What was found."""

    files: int = 0
    links: int = 0
    elsewhere: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)


def main(site: Path = SITE) -> int:
    """Print what is broken; return the exit status."""
    report = check(site)
    for line in report.broken:
        print(line)
    counted = f"{report.links} links in {report.files} files, {len(report.elsewhere)} other addresses not asked"
    print(f"{counted}: {len(report.broken)} broken")
    return 1 if report.broken else 0


def check(site: Path) -> Report:
    """Follow every link of the site, which stands at its configured address."""
    root = configured_base()
    report = Report()
    pages: dict[Path, Page] = {}

    def page_at(path: Path) -> Page:
        if path not in pages:
            pages[path] = Page(path.read_text(encoding="utf-8"))
        return pages[path]

    for path in sorted(site.rglob("*")):
        links = list(links_of(path, page_at))
        if not links:
            continue
        report.files += 1
        here = urljoin(root, path.relative_to(site).as_posix())
        base = urljoin(here, page_at(path).base) if path.suffix == ".html" else here
        for link in links:
            report.links += 1
            fault = broken(urljoin(base, link), site, root, page_at, report)
            if fault:
                report.broken.append(f"{path.relative_to(site)}: {link}: {fault}")
    return report


def links_of(path: Path, page_at: PageAt) -> Iterator[str]:
    """The addresses that a file names."""
    if path.suffix == ".html":
        yield from page_at(path).links
    elif path.suffix == ".css":
        yield from (link for link in IN_STYLE.findall(path.read_text(encoding="utf-8")))
    elif path.name == "sitemap.xml":
        yield from IN_SITEMAP.findall(path.read_text(encoding="utf-8"))


def broken(address: str, site: Path, root: str, page_at: PageAt, report: Report) -> str:
    """What is wrong with an address, or ""."""
    if address.startswith(NOT_PLACES):
        return ""
    parts = urlsplit(address)
    if not address.startswith(root):
        if parts.netloc == urlsplit(root).netloc:
            return "leads out of the site"
        report.elsewhere.add(address)
        return ""
    target = site / unquote(parts.path.removeprefix(urlsplit(root).path))
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "is not there"
    fragment = unquote(parts.fragment)
    if target.suffix == ".html" and not STATE.search(fragment) and fragment not in page_at(target).ids:
        return "has no such element"
    return ""


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
