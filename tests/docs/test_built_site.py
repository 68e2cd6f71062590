"""The built site: links, languages, formulas, and that nothing is fetched from anywhere else."""

import re
from collections import Counter
from functools import cache
from pathlib import Path, PurePosixPath
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit
from xml.etree import ElementTree as ET

import pytest
from bs4 import BeautifulSoup

from paths import shared_assets

DIRECTIONS = {"ar": "rtl", "en": "ltr"}
CDN = "cdn.jsdelivr.net"

# A page may name these addresses, but a browser loads nothing from them.
NAMING_RELATIONS = {"canonical", "alternate", "prev", "next"}
LOADING = {"src", "srcset", "poster", "data", "action", "formaction", "background", "xlink:href"}
STYLE_ADDRESS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


# A reader who goes through a page from link to link, and a search engine, hear of a link what it says and no more.
SAYING_NOTHING = {
    *("click here", "go", "here", "information", "learn more", "link", "more", "read more", "see more", "start", "this"),
    *("هنا", "من هنا", "اضغط هنا", "المزيد", "اقرأ المزيد", "رابط", "الرابط", "هذا", "هذه"),
}


def text_of(link):
    return " ".join(link.get_text(" ").split()).lower()


@cache
def root_of(site):
    """The folder of the host that the site was built for; only its 404 pages name it."""
    named = re.search(r'<link rel="canonical" href="([^"]+)"', (site / "index.html").read_text(encoding="utf-8"))
    return urlsplit(named[1]).path if named else "/"


def base_of(site, path, page):
    """The address that links of this page start from."""
    here = root_of(site) + path.as_posix()
    return urljoin(here, page.base["href"]) if page.base else here


def target_of(site, address):
    """The file a server would answer with."""
    file = site / unquote(urlsplit(address).path).removeprefix(root_of(site))
    return file / "index.html" if file.is_dir() else file


def ids_of(pages):
    return {path: {element["id"] for element in page.find_all(id=True)} for path, page in pages.items()}


def broken_links(site, path, page, ids):
    """Links of the page that lead to no file, or to an anchor that the file lacks."""
    base = base_of(site, path, page)
    for element in page.find_all(["a", "link", "script", "img", "form", "iframe", "source"]):
        link = element.get("href") or element.get("src") or element.get("action")
        if not link or urlsplit(link).scheme:
            continue
        address = urljoin(base, link)
        file = target_of(site, address)
        anchor = unquote(urlsplit(address).fragment)
        known = ids[file.relative_to(site)] if file.suffix == ".html" and file.is_file() else {anchor}
        if not file.is_file() or (anchor and anchor not in known and not inputs_are_known(anchor, known)):
            yield link


def inputs_are_known(anchor, known):
    """Whether it holds inputs for one form of that page, such as ``#effective_batch=512``, and none that the form lacks."""
    given = [name.replace("_", "-") for name, _ in parse_qsl(anchor, keep_blank_values=True)]
    forms = {i.removesuffix(given[0]) for i in known if i.startswith("ga-") and i.endswith(f"-{given[0]}")} if given else set()
    return any(all(form + name in known for name in given) for form in forms)


def loaded_from_elsewhere(page):
    """Addresses on other hosts that a browser would fetch by itself."""
    for element in page.find_all(True):
        for name, value in element.attrs.items():
            text = " ".join(value) if isinstance(value, list) else value
            loads = name in LOADING or (
                name == "href" and element.name == "link" and not NAMING_RELATIONS.intersection(element.get("rel", []))
            )
            found = [text] if loads else []
            if name == "style":
                found = style_addresses(text)
            yield from (address for address in found if is_elsewhere(address))
        if element.name == "style":
            yield from (address for address in style_addresses(element.get_text()) if is_elsewhere(address))


def style_addresses(style):
    return [first or second for first, second in STYLE_ADDRESS.findall(style)]


def is_elsewhere(address):
    return bool(re.match(r"\s*(?:https?:)?//", address))


def test_every_link_leads_somewhere(site, built_pages):
    ids = ids_of(built_pages)
    broken = {str(path): list(broken_links(site, path, page, ids)) for path, page in built_pages.items()}
    assert {path: links for path, links in broken.items() if links} == {}


def test_every_link_says_where_it_leads(built_pages):
    said = {(path.as_posix(), text_of(link)) for path, page in built_pages.items() for link in page.find_all("a", href=True)}
    assert {(path, text) for path, text in said if text in SAYING_NOTHING} == set()


def test_no_page_loads_anything_from_elsewhere(built_pages):
    found = {str(path): list(loaded_from_elsewhere(page)) for path, page in built_pages.items()}
    assert {path: addresses for path, addresses in found.items() if addresses} == {}


def test_no_stylesheet_loads_anything_from_elsewhere(site):
    sheets = sorted(site.rglob("*.css"))
    assert sheets
    found = {path.name: [a for a in style_addresses(path.read_text(encoding="utf-8")) if is_elsewhere(a)] for path in sheets}
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


def test_our_modules_name_one_other_host(site):
    hosts = {
        urlsplit(address).netloc
        for path in (shared_assets(site) / "js").glob("*.mjs")
        for address in re.findall(r"https?://[^\s\"'`)]+", path.read_text(encoding="utf-8"))
    }
    assert hosts - {"www.w3.org"} == {CDN}  # w3.org names the SVG namespace and is never fetched


def test_pages_say_their_language_and_direction(language_pages):
    said = {path: (page.html.get("lang"), page.html.get("dir"), page.body.get("dir")) for path, page in language_pages.items()}
    assert said == {path: (path.parts[0], *[DIRECTIONS[path.parts[0]]] * 2) for path in language_pages}


def test_both_languages_have_the_same_pages(language_pages):
    by_language = {lang: {Path(*p.parts[1:]) for p in language_pages if p.parts[0] == lang} for lang in DIRECTIONS}
    assert by_language["ar"] == by_language["en"]
    assert len(by_language["ar"]) >= 10


def test_header_and_head_name_the_same_page_in_the_other_language(site, language_pages):
    for path, page in language_pages.items():
        language = "en" if path.parts[0] == "ar" else "ar"
        counterpart = site / language / ("index.html" if path.name == "404.html" else PurePosixPath(*path.parts[1:]))
        link = page.find("a", class_="ga-language")
        named = [link["href"], *(meta["content"] for meta in page.find_all("meta", attrs={"name": "ga-other"}))]
        assert len(named) == (1 if path.name == "404.html" else 2)
        assert {target_of(site, urljoin(base_of(site, path, page), href)) for href in named} == {counterpart}, path
        assert (link["hreflang"], link["lang"]) == (language, language)


def test_asset_base_leads_to_the_shared_folder(site, language_pages):
    for path, page in language_pages.items():
        base = page.find("meta", attrs={"name": "ga-base"})["content"]
        sheet = target_of(site, urljoin(base_of(site, path, page), base + "css/all.css"))
        assert sheet == shared_assets(site) / "css" / "all.css", path


def test_ids_are_unique(built_pages):
    repeated = {
        str(path): [ident for ident, count in Counter(e["id"] for e in page.find_all(id=True)).items() if count > 1]
        for path, page in built_pages.items()
    }
    assert {path: ids for path, ids in repeated.items() if ids} == {}


@pytest.mark.parametrize("attribute", ["for", "aria-describedby", "aria-labelledby", "aria-controls"])
def test_what_refers_to_an_id_finds_it(built_pages, attribute):
    for path, page in built_pages.items():
        for element in page.find_all(attrs={attribute: True}):
            value = element[attribute]
            for ident in value if isinstance(value, list) else value.split():
                assert page.find(id=ident), (path, element.name, ident)


def test_every_formula_is_rendered_with_mathml(language_pages):
    formulas = [(path, element) for path, page in language_pages.items() for element in page.find_all(class_="arithmatex")]
    assert len(formulas) > 100
    bare = [(str(path), element.get_text()) for path, element in formulas if not element.find("math")]
    assert bare == []
    assert not any(page.find(class_="katex-error") for page in language_pages.values())


SOURCE_MARKS = re.compile(r"\\\(|\\\[|\$\$|\[=|=\]|\[%|%\]")


def shown_source(article):
    """Pieces of shown text that still hold marks of a formula or a macro."""
    for piece in article.find_all(string=SOURCE_MARKS):
        hidden = piece.find_parent(["code", "pre", "annotation", "script"]) or piece.find_parent(class_="ga-data")
        if not hidden:
            yield str(piece)


def test_no_formula_or_macro_is_left_as_source(language_pages):
    found = {str(path): list(shown_source(page.article)) for path, page in language_pages.items()}
    assert {path: pieces for path, pieces in found.items() if pieces} == {}


@pytest.mark.parametrize("html, found", [(r"<p>see \(b\)</p>", 1), ("<p>[= size(1) =]</p>", 1), (r"<code>\(b\)</code>", 0)])
def test_source_that_is_left_is_found(html, found):
    assert len(list(shown_source(BeautifulSoup(html, "lxml")))) == found


def test_quantities_stand_left_to_right_in_arabic(language_pages):
    page = language_pages[Path("ar/index.html")]
    assert len(page.article.find_all("bdi", dir="ltr")) > 2
    assert all(output.get("dir") == "ltr" for output in page.find_all(class_="ga-value"))


def sitemap_of(path):
    spaces = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
    urls = ET.parse(path).getroot().findall("s:url", spaces)  # noqa: S314 - our own file
    return {
        url.findtext("s:loc", namespaces=spaces): {
            link.get("hreflang"): link.get("href") for link in url.findall("x:link", spaces)
        }
        for url in urls
    }


@pytest.mark.parametrize("name", ["sitemap.xml", "ar/sitemap.xml", "en/sitemap.xml"])
def test_sitemap_lists_every_page_with_its_counterpart(site, language_pages, name):
    listed = sitemap_of(site / name)
    folder = name.rpartition("/")[0]
    pages = [path for path in language_pages if path.name == "index.html" and path.parts[0].startswith(folder)]
    base = min(listed, key=len).removesuffix("/").rpartition("/")[0] + "/"
    assert set(listed) == {base + path.parent.as_posix() + "/" for path in pages}
    for address, versions in listed.items():
        assert set(versions) == set(DIRECTIONS)
        assert address in versions.values()
        assert {target_of(site, version).is_file() for version in versions.values()} == {True}


def test_root_page_offers_both_languages_without_scripts(built_pages):
    page = built_pages[Path("index.html")]
    assert {link["hreflang"]: link["href"] for link in page.body.find_all("a")} == {"ar": "ar/", "en": "en/"}
    assert not page.body.find("script")


def test_root_page_remembers_nothing(site):
    source = (site / "index.html").read_text(encoding="utf-8")
    assert not re.search("localStorage|sessionStorage|cookie|indexedDB", source)


def test_missing_pages_are_answered_in_both_languages(built_pages):
    root = built_pages[Path("404.html")]
    answers = root.find_all("section") + [built_pages[Path(language, "404.html")].article for language in DIRECTIONS]
    assert {part["id"] for part in root.find_all("section")} == set(DIRECTIONS)
    for answer in answers:
        assert answer.form.find("input", attrs={"name": "q", "type": "search"})
        assert answer.find("a", href=True)


def test_nothing_is_hidden_from_a_static_host(site):
    assert (site / ".nojekyll").is_file()


# The checks themselves.

PAGE = '<html><head><link rel="canonical" href="https://example.org/"></head><body>{}</body></html>'
FOREIGN = {
    "a script": '<script src="https://example.org/x.js"></script>',
    "an image without scheme": '<img src="//example.org/x.png">',
    "a stylesheet": '<link rel="stylesheet" href="https://example.org/x.css">',
    "a hint to connect": '<link rel="preconnect" href="https://example.org">',
    "a style attribute": '<p style="background: url(https://example.org/x.png)">',
    "an import": "<style>@import 'https://example.org/x.css';</style>",
}


@pytest.mark.parametrize("html", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_resource_is_found(html):
    assert len(list(loaded_from_elsewhere(BeautifulSoup(PAGE.format(html), "lxml")))) == 1


def test_a_link_to_another_site_is_no_resource():
    page = BeautifulSoup(PAGE.format('<a href="https://example.org/">there</a>'), "lxml")
    assert list(loaded_from_elsewhere(page)) == []


LINKS = {
    "a page": ("other/", True),
    "a page that is not there": ("another/", False),
    "an anchor": ("other/#part", True),
    "an anchor that is not there": ("other/#parts", False),
    "inputs of a form": ("other/#micro_batch=4&replicas=", True),
    "inputs that the form lacks": ("other/#micro_batch=4&batch=2", False),
    "a file": ("style.css", True),
    "an anchor of the page itself": ("#top", False),
    "another site": ("https://example.org/", True),
}


@pytest.mark.parametrize("link, right", LINKS.values(), ids=LINKS)
def test_a_broken_link_is_found(tmp_path, link, right):
    (tmp_path / "other").mkdir()
    (tmp_path / "style.css").touch()
    sources = {
        Path("index.html"): f'<a href="{link}">x</a>',
        Path("other/index.html"): '<p id="part"><input id="ga-x-micro-batch"><input id="ga-x-replicas">',
    }
    for path, source in sources.items():
        (tmp_path / path).write_text(source, encoding="utf-8")
    pages = {path: BeautifulSoup(source, "lxml") for path, source in sources.items()}
    broken = list(broken_links(tmp_path, Path("index.html"), pages[Path("index.html")], ids_of(pages)))
    assert broken == ([] if right else [link])
