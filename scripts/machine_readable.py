"""What programs read of the site: llms.txt, structured data in the heads of pages, and a feed of changes.

All of it is made from the pages themselves, so that it cannot say anything else than they do:

- ``llms.txt`` of each language lists its pages as the navigation orders them, each with the description from its front matter;
  the one at the root leads to both;
- the page of questions carries a schema.org FAQPage, and each page with a calculator a WebApplication;
- ``changes.xml`` is an RSS feed with an item for each line of CHANGELOG.md. It is RSS and not Atom, because what is not yet
  released has no date, and Atom demands one.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from formula_text import with_formula_texts
from gradaccum import __version__
from paths import CONFIGS, ROOT
from search_index import description_in

OTHER = {"ar": "en", "en": "ar"}
FAQ = "learn/faq/"
APPLICATIONS = re.compile(r"^$|^calculators/")
NAV = re.compile(r"^ +- (?P<title>[^\n]+?):(?: (?P<page>\S+\.md))?$", re.MULTILINE)
QUESTION = re.compile(
    r'<h3 id="(?P<id>[^"]+)">(?P<question>.*?)<a class="headerlink".*?</h3>(?P<answer>.*?)(?=<h[23] |</article>)', re.DOTALL
)
CHANGES = "changes.xml"


def plain(markup: str, texts: Mapping[str, str]) -> str:
    r"""The text of a piece of HTML in one line, formulas as plain text by their TeX.

    >>> plain(r"<p>In <em>b</em>, <span>\(b \cdot a\)</span> &amp; more.</p>", {r"b \cdot a": "b · a"})
    'In b, b · a & more.'
    """
    text = re.sub(r"<[^>]+>", "", re.sub(r"<(script|style|svg)\b.*?</\1>", "", markup, flags=re.DOTALL))
    return " ".join(with_formula_texts(html.unescape(text), texts).split())


def navigation(language: str) -> Iterator[tuple[str, str]]:
    """What the navigation lists: headings with an empty address, and pages with theirs."""
    text = CONFIGS[language].read_text(encoding="utf-8")
    for match in NAV.finditer(text[text.index("\nnav:\n") :]):
        page = (match["page"] or "").removesuffix(".md")
        yield match["title"], "" if not page else "./" if page == "index" else f"{page.removesuffix('index').rstrip('/')}/"


def structured_data(markup: str, language: str, page: str, base: str, texts: Mapping[str, str]) -> str:
    """A page with the data that search engines read about it; the data block is never executed."""
    common = {"@context": "https://schema.org", "url": f"{base}{language}/{page}", "inLanguage": language}
    if page == FAQ:
        found = common | {"@type": "FAQPage", "mainEntity": questions(markup, texts)}
    elif APPLICATIONS.search(page):
        found = common | application(markup, texts)
    else:
        return markup
    # "</" would end the element inside a string.
    block = json.dumps(found, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return markup.replace("</head>", f'<script type="application/ld+json">{block}</script></head>', 1)


def questions(markup: str, texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """The questions of a page and their answers."""
    return [
        {
            "@type": "Question",
            "name": plain(match["question"], texts),
            "acceptedAnswer": {"@type": "Answer", "text": plain(match["answer"], texts)},
        }
        for match in QUESTION.finditer(markup)
    ]


def application(markup: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """The calculator of a page."""
    title = re.search(r"<h1[^>]*>(.*?)(?:<a class=\"headerlink\"|</h1>)", markup, re.DOTALL)
    if title is None:
        raise ValueError("a page with a calculator has no heading")
    return {
        "@type": "WebApplication",
        "name": plain(title[1], texts),
        "description": description_in(markup),
        "applicationCategory": "DeveloperApplication",
        "operatingSystem": "Any",
        "browserRequirements": "JavaScript and WebAssembly",
        "softwareVersion": __version__,
        "isAccessibleForFree": True,
        "offers": {"@type": "Offer", "price": 0, "priceCurrency": "USD"},
    }


def write_llms(site: Path, language: str, base: str, name: str, about: str) -> None:
    """The list of a language's pages."""
    root = f"{base}{language}/"
    lines = [f"# {name}", "", f"> {about}", ""]
    for title, page in navigation(language):
        if not page:
            lines += ["", f"## {title}", ""]
            continue
        path = page.removeprefix("./")
        description = description_in((site / language / path / "index.html").read_text(encoding="utf-8"))
        lines.append(f"- [{title}]({root}{path}): {description}")
    (site / language / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_root_llms(site: Path, base: str) -> None:
    """The file where programs look first: the English list whole, and the way to the Arabic one."""
    english = (site / "en" / "llms.txt").read_text(encoding="utf-8")
    arabic = (site / "ar" / "llms.txt").read_text(encoding="utf-8")
    name, about = (arabic.split("\n")[line][2:] for line in (0, 2))
    text = f"{english}\n## العربية\n\n- [{name}]({base}ar/llms.txt): {about}\n"
    (site / "llms.txt").write_text(text, encoding="utf-8")


def write_feed(site: Path, base: str, repository: str) -> None:
    """The feed of changes."""
    feed = ET.Element("rss", version="2.0")
    channel = ET.SubElement(feed, "channel")
    for name, text in {
        "title": "gradaccum: changes",
        "link": base,
        "description": "What changed in the calculators, the pages and the package.",
        "language": "en",
    }.items():
        ET.SubElement(channel, name).text = text
    for version, kind, change in changes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        item = ET.SubElement(channel, "item")
        ET.SubElement(item, "title").text = f"{kind}: {headline(change)}"
        ET.SubElement(item, "link").text = f"{repository}/blob/main/CHANGELOG.md"
        ET.SubElement(item, "category").text = version
        ET.SubElement(item, "guid", isPermaLink="false").text = hashlib.sha256(change.encode()).hexdigest()[:20]
        ET.SubElement(item, "description").text = change
    ET.indent(feed)
    ET.ElementTree(feed).write(site / CHANGES, encoding="utf-8", xml_declaration=True)


def changes(changelog: str) -> Iterator[tuple[str, str, str]]:
    r"""Version, kind and text of every line of a changelog, without its marks.

    >>> list(changes("## [1.0.0] - 2026-01-02\n\n### Fixed\n\n- The `plan`.\n- [Two](page.md).\n"))
    [('1.0.0', 'Fixed', 'The plan.'), ('1.0.0', 'Fixed', 'Two.')]
    """
    version = kind = ""
    for line in changelog.splitlines():
        if line.startswith("## "):
            version = line[3:].partition("]")[0].strip("[ ")
        elif line.startswith("### "):
            kind = line[4:].strip()
        elif line.startswith("- "):
            yield version, kind, re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", line[2:].strip()).replace("`", "")


def headline(text: str) -> str:
    """The first clause of a sentence.

    >>> headline("The calculator plan: micro-batch and steps. More.")
    'The calculator plan'
    """
    return re.split(r"[:;.](?:\s|$)", text, maxsplit=1)[0]
