"""What programs read of the site says what its pages say."""

import json
import re

import pytest
from lxml import etree

from machine_readable import changes, navigation, plain, questions, structured_data
from paths import ROOT
from postbuild import configured_base

LANGUAGES = ("en", "ar")
HEAD = '<head><meta name="description" content="About."></head>'


def data_of(page):
    """The data blocks of a parsed page."""
    return [json.loads(block.string) for block in page.select('head script[type="application/ld+json"]')]


@pytest.mark.parametrize("language", LANGUAGES)
def test_faq_carries_every_question_with_its_answer(language_pages, language):
    [page] = [page for path, page in language_pages.items() if path.as_posix() == f"{language}/learn/faq/index.html"]
    [data] = data_of(page)
    assert (data["@type"], data["inLanguage"]) == ("FAQPage", language)
    asked = [heading.get_text().replace("¶", "").strip() for heading in page.select("article h3")]
    assert [question["name"] for question in data["mainEntity"]] == [" ".join(text.split()) for text in asked]
    assert len(asked) >= 25
    for question in data["mainEntity"]:
        answer = question["acceptedAnswer"]["text"]
        assert len(answer) > 40, question["name"]
        assert not re.search(r"<\w|&\w+;|\\\(", answer), answer


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_with_a_calculator_is_an_application(language_pages, language):
    applications = {
        path.parent.as_posix()
        for path, page in language_pages.items()
        if path.parts[0] == language and any(data["@type"] == "WebApplication" for data in data_of(page))
    }
    with_calculators = {
        path.parent.as_posix()
        for path, page in language_pages.items()
        if path.parts[0] == language and page.select_one(".ga-calculator") and "learn" not in path.parts
    }
    assert applications == with_calculators
    assert len(applications) >= 9


def test_data_names_the_address_where_the_page_stands(language_pages):
    for path, page in language_pages.items():
        for data in data_of(page):
            assert data["url"] == f"{configured_base()}{path.as_posix().removesuffix('index.html')}"
            assert data["url"] == page.select_one('link[rel="canonical"]')["href"]


def test_a_string_cannot_end_the_data_block():
    page = f"<html>{HEAD}<h1>A</script><script>b</h1></html>"
    found = structured_data(page, "en", "calculators/x/", "https://host/", {})
    assert found.count("</script>") == page.count("</script>") + 1


def test_questions_end_where_the_next_begins():
    html = '<h3 id="a">A?<a class="headerlink" href="#a">&para;</a></h3><p>One.</p><h3 id="b">B?<a class="headerlink">&para;</a></h3><p>2</p><h2 id="c">'
    assert [(q["name"], q["acceptedAnswer"]["text"]) for q in questions(html, {})] == [("A?", "One."), ("B?", "2")]


def test_other_pages_stay_as_they_are():
    assert structured_data(HEAD, "en", "learn/concept/", "https://host/", {}) == HEAD


@pytest.mark.parametrize("language", LANGUAGES)
def test_llms_lists_every_page_of_the_navigation_once(site, language):
    text = (site / language / "llms.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[.+?\]\((\S+?)\): \S", text, re.MULTILINE)
    built = {
        path.parent.relative_to(site).as_posix() + "/" for path in (site / language).rglob("index.html") if path.parent.name
    }
    assert sorted(listed) == sorted(f"{configured_base()}{address}" for address in built)
    assert len(list(navigation(language))) > len(listed)
    assert text.startswith("# ")
    assert "\n> " in text


def test_root_llms_leads_to_both_languages(site):
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert f"{configured_base()}ar/llms.txt" in text
    assert f"{configured_base()}en/learn/faq/" in text


def test_feed_has_an_item_for_every_change(site, language_pages):
    items = etree.parse(site / "changes.xml").getroot().findall("channel/item")
    expected = list(changes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    assert [item.findtext("description") for item in items] == [change for _, _, change in expected]
    assert len(items) >= 15
    assert len({item.findtext("guid") for item in items}) == len(items)
    for path, page in language_pages.items():
        assert page.select_one('link[type="application/rss+xml"]')["href"].endswith("changes.xml"), path


@pytest.mark.parametrize("language", LANGUAGES)
def test_sitemap_names_every_page_with_its_counterpart(site, language):
    spaces = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
    urls = etree.parse(site / "sitemap.xml").getroot().findall("s:url", spaces)
    found = {
        url.findtext("s:loc", namespaces=spaces): {
            link.get("hreflang"): link.get("href") for link in url.findall("x:link", spaces)
        }
        for url in urls
    }
    pages = {path.parent.relative_to(site / language).as_posix() for path in (site / language).rglob("index.html")}
    for page in pages:
        tail = "" if page == "." else f"{page}/"
        assert found[f"{configured_base()}{language}/{tail}"] == {one: f"{configured_base()}{one}/{tail}" for one in LANGUAGES}


@pytest.mark.parametrize(
    "markup, text",
    [("<p>a</p>\n<p>b &lt; c</p>", "a b < c"), ("<style>x</style>y", "y"), ("<div>\\[\na\n\\]</div>", "α")],
)
def test_plain_text(markup, text):
    assert plain(markup, {"a": "α"}) == text
