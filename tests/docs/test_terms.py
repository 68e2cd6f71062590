"""Arabic pages and messages keep to the glossary."""

import csv
import json
import re

import pytest

import translation
from gradaccum.messages import catalogue
from paths import DOCS, ROOT

MARKS = re.compile("[\u064b-\u0652\u0670\u0640\u200c]")
ONLY_FIRST_USE = re.compile(r"\(بلا تشكيل في أول ورود\)")
PAGES = translation.page_names(translation.ARABIC)
MESSAGES = catalogue("ar")


def bare(text):
    """Without vowel marks and stretching."""
    return MARKS.sub("", text)


def rejected_terms():
    """Each rejected term with the accepted one, from the glossary."""
    with (DOCS / "glossary.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for term in row["rejected_ar"].split("؛"):
                if term.strip() and not ONLY_FIRST_USE.search(term):
                    yield bare(term.strip()), row["ar"]


REJECTED = dict(rejected_terms())


def pattern_of(term):
    """The whole term behind the particles that are written together with a word."""
    stem = re.escape(term.removeprefix("ال"))
    article = "(?:ال|لل)" if term.startswith("ال") and len(term) < 6 else "(?:ال|لل|ل)?"
    return re.compile(rf"(?<!\w)[وف]?[بك]?{article}{stem}(?!\w)")


def found_in(text):
    return sorted(term for term in REJECTED if pattern_of(term).search(bare(text)))


def prose(page):
    """The page without what is not Arabic prose."""
    for pattern in (translation.FENCE, translation.MACRO, translation.CODE_SPAN):
        page = translation.without(pattern, page)
    return page


def test_glossary_rejects_something():
    assert len(REJECTED) > 10


@pytest.mark.parametrize("name", PAGES)
def test_page_uses_no_rejected_term(name):
    page = prose((translation.ARABIC / name).read_text(encoding="utf-8"))
    assert {term: REJECTED[term] for term in found_in(page)} == {}


def test_messages_use_no_rejected_term():
    found = {key: found_in(message) for key, message in MESSAGES.items()}
    assert {key: terms for key, terms in found.items() if terms} == {}


def test_words_of_the_benchmark_use_no_rejected_term():
    words = json.loads((ROOT / "scripts" / "bench" / "words" / "ar.json").read_text(encoding="utf-8"))
    assert {key: terms for key, word in words.items() if (terms := found_in(word))} == {}


def first_optimizer(text):
    """The first mention of the optimizer, as written."""
    match = re.search(r"م[\u064b-\u0652]*ح[\u064b-\u0652]*س[\u064b-\u0652]*ّ?[\u064b-\u0652]*ن[\u064b-\u0652]*(?!\w)", text)
    return match and match[0]


@pytest.mark.parametrize("name", PAGES)
def test_first_optimizer_of_a_page_carries_its_marks(name):
    first = first_optimizer(prose(translation.body((translation.ARABIC / name).read_text(encoding="utf-8"))))
    assert first is None or first.startswith("مُحسِّن")


CASES = {
    "as it stands": ("زادت ذاكرة الذروة كثيرًا.", ["ذاكرة الذروة"]),
    "behind and and with": ("وبالتفعيل", ["التفعيل"]),
    "with vowel marks": ("الانحِدار", ["الانحدار"]),
    "another word that only holds it": ("الانحدارات", []),
    "the accepted term": ("تراكم التدرّجات وذروة الذاكرة", []),
}


@pytest.mark.parametrize("text, terms", CASES.values(), ids=CASES)
def test_search_for_terms(text, terms):
    assert found_in(text) == terms


@pytest.mark.parametrize("text, first", [("خطوة المُحسِّن ثم المحسن", "مُحسِّن"), ("خطوة المحسن", "محسن"), ("لا شيء", None)])
def test_search_for_the_first_optimizer(text, first):
    assert first_optimizer(text) == first
