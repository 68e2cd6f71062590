"""What must change in the built HTML, so that no build hook is needed.

``main(site_dir)`` takes the folder that holds ``ar/`` and ``en/`` as mkdocs wrote them and

- renders every formula with KaTeX, as HTML and MathML;
- says the direction of the text on ``<html>`` too, and gives names to parts that the theme leaves without;
- names the package's file, by its hash, below each calculator;
- puts the address of the deployment (argument, else SITE_URL) in the place of the configured one;
- adds descriptions to the search index, and our reading of questions to the search;
- links the notes of calculators to the pitfalls they warn of;
- says in the form that programs read what pages hold: structured data, llms.txt, a feed of changes;
- writes the sitemaps, where each page names its counterpart, and makes the 404 pages independent of the base path;
- adds the root page, which chooses a language, the root's 404 page and ``.nojekyll``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from html import escape, unescape
from pathlib import Path
from urllib.parse import urlsplit

from directions import with_whole_words
from formula_text import formula_text, one_line
from machine_readable import structured_data, write_feed, write_llms, write_root_llms
from note_links import link_notes
from page_parts.node import run_node
from paths import CONFIGS, DOCS, ROOT, SHARED_ASSETS
from search_index import complete_search

DIRECTIONS = {"ar": "rtl", "en": "ltr"}
SEARCH_NAMES = {"ar": "البحث", "en": "Search"}
# Placeholders that arithmatex and the macros write: an element of class arithmatex around \(…\) or \[…\].
FORMULA = re.compile(
    r'(?P<open><(?P<tag>span|div) class="arithmatex[^"]*">)\s*'
    r"(?:\\\((?P<inline>.*?)\\\)|\\\[(?P<display>.*?)\\\])\s*</(?P=tag)>",
    re.DOTALL,
)
# A table whose first corner is empty.
TABLE = re.compile(r"(?P<head><table>\s*<thead>\s*<tr>\s*<td[^>]*></td>.*?</thead>)(?P<rows>.*?</table>)", re.DOTALL)
Formula = tuple[str, bool]
MARKUP = re.compile(r"<[^>]*>")
# Cells of so many characters are no narrower than their class says.
LONG = ((100, "ga-longest"), (50, "ga-long"))
# Behind a mark that parts the names within a name, as in optimizer.zero_grad(set_to_none=False).
SEAM = re.compile(r"(?<=\w[._(=/,:\[])(?=[A-Za-z&])")
# How KaTeX writes the sizes of a formula's parts; in the formulas alone, since a text may show such a tag too.
SIZED = re.compile(r'<span(?: class="(?P<classes>[^"]*)")? style="(?P<style>[^"]*)">')
WHEEL = '<code class="ga-wheel" dir="ltr"></code>'
STYLES = SHARED_ASSETS / "katex" / "katex.min.css"


def main(site_dir: str | Path, base_url: str | None = None) -> None:
    """Finish the site in ``site_dir`` for the address ``base_url``."""
    site = Path(site_dir)
    base = (base_url or os.environ.get("SITE_URL") or configured_base()).rstrip("/") + "/"
    pages = {path: path.read_text(encoding="utf-8") for lang in DIRECTIONS for path in sorted((site / lang).rglob("*.html"))}
    rendered = render_formulas(pages.values())
    texts = {one_line(tex): formula_text(markup) for (tex, _), markup in rendered.items()}
    formulas, rules = without_styles(rendered)
    with (site / STYLES).open("a", encoding="utf-8") as sheet:
        sheet.write(rules)
    named = WHEEL.replace("></", f">{wheel_hash(site)}</")
    workers = {language: complete_search(site, language, texts) for language in DIRECTIONS}
    for path, html in pages.items():
        language = path.relative_to(site).parts[0]
        if path.name == "index.html":
            html = structured_data(html, language, address_of(path.parent, site / language), base, texts)  # noqa: PLW2901
        finished = finish_page(html, language, formulas).replace(configured_base(), base).replace(WHEEL, named)
        finished = replace_once(finished, *workers[language])
        finished = link_notes(finished, language, depth=len(path.relative_to(site).parts) - 2)
        if path.name == "404.html":
            finished = free_of_base(finished, language, urlsplit(base).path)
        path.write_text(finished, encoding="utf-8")
    for language in DIRECTIONS:
        # Word lists of languages whose stemmers this site never asks for.
        shutil.rmtree(site / language / "assets" / "javascripts" / "lunr")
        write_llms(site, language, base, *(configured(key, language) for key in ("site_name", "site_description")))
    write_root_llms(site, base)
    write_feed(site, base, configured("  repository", "ar"))
    write_sitemaps(site, base)
    write_root(site, base)


def configured_base() -> str:
    """The address that ``mkdocs.yml`` holds, without the language."""
    found = re.search(r"^site_url: (\S+)/ar/$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError("mkdocs.yml: site_url must end in /ar/")
    return found[1] + "/"


def wheel_hash(site: Path) -> str:
    """What the lock file says that the package's file must digest to."""
    lock = json.loads((site / SHARED_ASSETS / "python" / "lock.json").read_text(encoding="utf-8"))
    (package,) = lock["packages"].values()
    return str(package["sha256"])


def configured(key: str, language: str) -> str:
    """A line of the configuration of a language."""
    found = re.search(rf"^{key}: (.+)$", CONFIGS[language].read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{CONFIGS[language].name}: no {key.strip()}")
    return found[1]


def address_of(folder: Path, root: Path) -> str:
    """The address of a page's folder from the root of its language."""
    return "" if folder == root else f"{folder.relative_to(root).as_posix()}/"


def replace_once(html: str, old: str, new: str) -> str:
    """Replace what must be there exactly once: a theme that changed is noticed here and not by a reader."""
    if html.count(old) != 1:
        raise ValueError(f"expected once, found {html.count(old)} times: {old}")
    return html.replace(old, new)


def formula_of(match: re.Match[str]) -> Formula:
    """The TeX of a placeholder, and whether it stands in a line of its own."""
    display = match["display"] is not None
    return unescape(match["display"] if display else match["inline"]).strip(), display


def render_formulas(pages: Iterable[str]) -> dict[Formula, str]:
    """All formulas of all pages, rendered by one Node process."""
    wanted = sorted({formula_of(match) for html in pages for match in FORMULA.finditer(html)})
    if not wanted:
        return {}
    request = [{"tex": tex, "display": display} for tex, display in wanted]
    rendered = json.loads(run_node(ROOT / "scripts" / "katex.mjs", request))
    return dict(zip(wanted, rendered, strict=True))


def without_styles(formulas: dict[Formula, str]) -> tuple[dict[Formula, str], str]:
    """The formulas with classes in the place of ``style`` attributes, which a strict policy forbids, and the classes' rules."""
    rules: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        style = unescape(match["style"])
        name = f"ga-k{hashlib.sha256(style.encode()).hexdigest()[:8]}"
        # An attribute wins over KaTeX's own rules, and so must these.
        rules[name] = ";".join(f"{part}!important" for part in style.rstrip(";").split(";"))
        return f'<span class="{" ".join(filter(None, (match["classes"], name)))}">'

    changed = {formula: SIZED.sub(named, html) for formula, html in formulas.items()}
    return changed, "".join(f".{name}{{{rule}}}\n" for name, rule in sorted(rules.items()))


def finish_page(html: str, language: str, formulas: dict[Formula, str]) -> str:
    """Direction, formulas, and the names that the theme leaves out."""
    direction = DIRECTIONS[language]
    html = replace_once(
        html, f'<html lang="{language}" class="no-js">', f'<html lang="{language}" dir="{direction}" class="no-js">'
    )
    # Firefox would fetch the next page unasked, which is neither allowed to it nor worth a reader's bytes.
    html = re.sub(r'<link rel="(prev|next)" [^>]*>\n?', "", html)
    # An attribute that says nothing is no number.
    html = html.replace(' tabindex=""', "")
    # The corner of a table that has heads on two sides is no head of anything.
    html = re.sub(r"<th( [^>]*)?></th>", r"<td\1></td>", html)
    html = TABLE.sub(with_named_rows, html)
    # Markdown does not say what a table's head is the head of.
    html = re.sub(r"<th(?![^>]* scope=)(?=[ >])", '<th scope="col"', html)
    # Not every reader of tables looks into MathML, and a head that is a symbol only would be no head to it.
    symbol = r'<th( [^>]*)?>(<span class="arithmatex">\\\((.*?)\\\)</span>)</th>'
    html = re.sub(symbol, r'<th\1><span class="ga-unseen">\3</span><span aria-hidden="true">\2</span></th>', html)
    # A short name is never broken at a hyphen or a point of its own; a long one must be, or it would widen a phone's page.
    html = re.sub(r"<code>([^<]{1,26})</code>", r'<code class="ga-whole">\1</code>', html)
    html = re.sub(r"<code>([^<\s]{35,})</code>(?!</pre>)", with_seams, html)
    html = re.sub(r"<code>([^<\n]* [^<\n]*)</code>(?!</pre>)", r'<code class="ga-words">\1</code>', html)
    # The same for a term with a hyphen: within Arabic, its second half would stand at the other side of the page.
    html = re.sub(r'<bdi lang="en">([^<]{1,26})</bdi>', with_whole_term, html)
    html = with_whole_words(html)
    html = re.sub(r"<td>(.*?)</td>", with_room, html, flags=re.DOTALL)
    html = FORMULA.sub(lambda match: f"{match['open']}{formulas[formula_of(match)]}</{match['tag']}>", html)
    search = '<div class="md-search" data-md-component="search" role="dialog"'
    return replace_once(html, search, f'{search} aria-label="{SEARCH_NAMES[language]}"')


def with_named_rows(table: re.Match[str]) -> str:
    """A table whose first corner is empty has the names of its rows in the first column."""
    rows = re.sub(r"(<tr>\s*)<td([^>]*)>(.*?)</td>", r'\1<th\2 scope="row">\3</th>', table["rows"], flags=re.DOTALL)
    return f"{table['head']}{rows}"


def with_whole_term(term: re.Match[str]) -> str:
    """A term with a hyphen, never broken there."""
    return f'<bdi lang="en" class="ga-whole">{term[1]}</bdi>' if "-" in term[1] else term[0]


def with_seams(code: re.Match[str]) -> str:
    """A name too long for a phone that says where it may be broken: between its parts and never in the middle of a word.

    What is copied stays the same: ``<wbr>`` holds no character.
    """
    return f'<code class="ga-name">{SEAM.sub("<wbr>", code[1])}</code>'


def with_room(cell: re.Match[str]) -> str:
    """A cell that says when it holds much: outside a narrow screen it would be squeezed to a word a line, its row empty."""
    length = len(unescape(MARKUP.sub("", cell[1])))
    name = next((name for least, name in LONG if length >= least), "")
    return f'<td class="{name}">{cell[1]}</td>' if name else cell[0]


def free_of_base(html: str, language: str, base_path: str) -> str:
    """A 404 page answers at any depth, so its links are absolute; make them follow the folder it is really served from."""
    written = f"{urlsplit(configured_base()).path}{language}/"
    html = re.sub(rf'(href|src|action|content)="{re.escape(written)}', r'\1="', html)
    html = html.replace(f'"{written}assets', '"assets')
    html = replace_once(html, f'__md_scope=new URL("{written}",location)', "__md_scope=new URL(document.baseURI)")
    html = replace_once(html, f'"base": "{written}"', '"base": "."')
    follow = (
        f'<base href="{base_path}{language}/"><script>{{const folder=location.pathname.match(/^.*?\\/{language}\\//);'
        "if(folder)document.querySelector('base').href=folder[0]}</script>"
    )
    html = replace_once(html, '<meta charset="utf-8">', f'<meta charset="utf-8">{follow}')
    # The theme resolves its own base against the address, not against <base>.
    patch = (
        "<script>{const config=document.getElementById('__config');config.textContent="
        'config.textContent.replace(\'"base": "."\',\'"base": "\'+document.baseURI+\'"\')}</script>'
    )
    return replace_once(
        html, '<script defer src="assets/javascripts/bundle', f'{patch}<script defer src="assets/javascripts/bundle'
    )


def write_sitemaps(site: Path, base: str) -> None:
    """One per language, which instant navigation reads, and one for both at the root."""
    every = []
    for language in DIRECTIONS:
        urls = [address_of(path.parent, site / language) for path in sorted((site / language).rglob("index.html"))]
        entries = [sitemap_entry(base, language, url) for url in urls]
        every += entries
        (site / language / "sitemap.xml").write_text(sitemap(entries), encoding="utf-8")
        (site / language / "sitemap.xml.gz").unlink(missing_ok=True)
    (site / "sitemap.xml").write_text(sitemap(every), encoding="utf-8")


def sitemap_entry(base: str, language: str, url: str) -> str:
    """A page and its versions."""
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{other}" href="{escape(f"{base}{other}/{url}")}"/>' for other in DIRECTIONS
    )
    return f"<url><loc>{escape(f'{base}{language}/{url}')}</loc>{links}</url>\n"


def sitemap(entries: list[str]) -> str:
    """The file around the entries."""
    spaces = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {spaces}>\n{"".join(entries)}</urlset>\n'


def write_root(site: Path, base: str) -> None:
    """The page that chooses a language, the page for addresses that are nowhere, and GitHub's mark for finished HTML."""
    for source in sorted((DOCS / "root").glob("*.html")):
        html = source.read_text(encoding="utf-8").replace("{base}", base).replace("{path}", urlsplit(base).path)
        (site / source.name).write_text(html, encoding="utf-8")
    (site / ".nojekyll").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
