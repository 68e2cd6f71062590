"""Arabic words of comments, strings and help texts are read from right to left, whatever stands between them."""

import re
from pathlib import Path

import pytest

import directions
from paths import DOCS

CASES = {
    "a comment": ('<span class="c1"># لا إلى prepare: فالجدول</span>', "لا إلى prepare: فالجدول"),
    "a string": ('<span class="s2">"يقسم Trainer على"</span>', "يقسم Trainer على"),
    "help": ("<pre><span></span><code>  --lang LANG, -l   لغة النصوص: ar en\n</code></pre>", "لغة النصوص: ar en"),
    "help below a long option": (
        "<pre><span></span><code>  --lang\n      كما في drop_last.\n</code></pre>",
        "كما في drop_last.",
    ),
    "a description": ("<pre><span></span><code>مكتبة Keras 3\n</code></pre>", "مكتبة Keras 3"),
    "English": ('<span class="c1"># E = b · a · g</span>', None),
    "the line of usage": ("<pre><span></span><code>الاستعمال: gradaccum run [-h]\n</code></pre>", None),
    "prose": ("<p>لا إلى prepare: فالجدول</p>", None),
}


@pytest.mark.parametrize("html, words", CASES.values(), ids=CASES)
def test_arabic_words_in_code_stand_together(html, words):
    found = directions.with_whole_words(html)
    assert re.findall(r'<bdi dir="rtl">(.*?)</bdi>', found) == ([words] if words else [])
    assert re.sub(r"</?bdi[^>]*>", "", found) == html


@pytest.mark.parametrize("folder", ["learn/frameworks", "reference/cli", "reference/contract"])
def test_page_has_its_arabic_code_set_apart(language_pages, folder):
    for language, apart in (("ar", True), ("en", False)):
        page = language_pages[Path(language, folder, "index.html")]
        assert bool(page.article.select('code bdi[dir="rtl"]')) == apart


# What the build sets apart, or the page itself: code, formulas, macros, terms.
APART = re.compile(r"^```.*?^```|`[^`]*`|\$[^$]*\$|\[=.*?=\]|<bdi.*?</bdi>", re.DOTALL | re.MULTILINE)
TURNED = re.compile(r"[\u0621-\u064a][^A-Za-z\u0621-\u064a\n]*\d(?:[./·]| (?:[/·×=+<>-] )?)[A-Za-z]")


def test_no_number_stands_behind_its_unit_on_an_arabic_page():
    assert TURNED.search("في 5.x")
    found = {path.name: TURNED.findall(APART.sub("|", path.read_text("utf-8"))) for path in (DOCS / "ar").rglob("*.md")}
    assert {name: turned for name, turned in found.items() if turned} == {}
