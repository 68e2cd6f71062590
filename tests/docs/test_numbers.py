"""Quantities on pages come from macros: no page types a digit with a unit."""

import re

import pytest

import translation

FOLDERS = (translation.ENGLISH, translation.ARABIC)
PAGES = [(folder.name, name) for folder in FOLDERS for name in translation.page_names(folder)]

UNITS = (
    "[kKMGTP]i?B", "B", "bytes?", "bits?", "(?:kilo|mega|giga|tera)bytes?", "%", "percent",
    "ms", "s", "seconds?", "min", "minutes?", "h", "hours?", "days?", "USD", "dollars?", "euros?",
    "بايت", "(?:كيلو|ميغا|ميجا|غيغا|جيجا|تيرا)بايت", "٪", "بالمئة", "في المئة", "(?:ال)?ثاني(?:ة|تين)", "ثوان[يٍ]?",
    "دقيق(?:ة|تين)", "دقائق", "ساع(?:ة|ات|تين)", "أيام", "يوم(?:ًا)?", "دولار(?:ًا|ات)?",
)  # fmt: skip
QUANTITY = re.compile(rf"[\d٠-٩][\d٠-٩.,٬٫_]*[\s\u00a0-]*(?:{'|'.join(UNITS)})(?!\w)|[$€]\s*\d")
LINK_TARGET = re.compile(r"\]\([^)]*\)|<https?:[^>]*>")
TAG = re.compile(r"</?[a-z][^>]*>")


def typed_quantities(page):
    """Digits with a unit outside macros, code, formulas and the targets of links."""
    page = translation.body(page)
    for pattern in (
        translation.FENCE, translation.MACRO, translation.CODE_SPAN, translation.FORMULA, LINK_TARGET, TAG,
    ):  # fmt: skip
        page = translation.without(pattern, page)
    return [match[0] for match in QUANTITY.finditer(page)]


@pytest.mark.parametrize("language, name", PAGES)
def test_page_types_no_quantity(language, name):
    page = (translation.DOCS / language / name).read_text(encoding="utf-8")
    assert typed_quantities(page) == [], 'write [= size("2 GB") =] or the macro that computes it'


CASES = {
    "a size": ("needs 24 GiB of memory", ["24 GiB"]),
    "a size without a blank": ("needs 1.5GB", ["1.5GB"]),
    "Arabic digits and unit": ("تحتاج ٢٤ غيغابايت", ["٢٤ غيغابايت"]),
    "a share": ("loses 5 % of speed", ["5 %"]),
    "a price": ("for $3 an hour", ["$3"]),
    "in a macro": ('needs [= size("24 GiB") =]', []),
    "in code": ("pass `--budget 24GiB`", []),
    "in a block": ("```sh\nrun --budget 24GiB\n```", []),
    "in a formula": (r"$2\,\text{GB} = 4 \cdot 0.5 GB$", []),
    "a version": ("since Transformers 5.24", []),
    "a count": ("steps 1 to 3", []),
    "a unit within a word": ("the 3 samples", []),
}


@pytest.mark.parametrize("page, found", CASES.values(), ids=CASES)
def test_search_for_quantities(page, found):
    assert typed_quantities(page) == found
