"""Numbers on pages come from macros: no page types a digit with a unit, and no result of anything."""

import json
import re
from datetime import date

import pytest

import translation
from page_parts import published
from paths import ROOT

SOURCE = ROOT / "src" / "gradaccum"
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


# What is left in a page's prose when macros, code, formulas and addresses are gone: digits that name something.

VERSION = r"\d+(?:\.\d+)+"
NAMES = (
    r"(?m)^ *\d+\. ",  # of a list
    r"\d+\.\d+\.\d+|\d+\.x",  # a whole version, and one of a family
    r"stages? \d (?:and|or) \d|ZeRO \d (?:and|or|أو) \d|المرحلت(?:ان|ين) \d و\d",
    r"[A-Za-z][\w-]*?-?\d+[A-Za-z]*(?:-mixed)?",  # fp16, ZeRO-2, FSDP2, beta2
    r"[\w./-]*#\d+",  # a thread
    rf"(?:[A-Z][\w-]*|torch|optax|peft|(?:[Vv]er|re)sions?|capability|إصدار|الحسابية|في|منذ|From) +(?:{VERSION})",
    rf"\( *(?:الإصدار +)?(?:{VERSION})",  # the version that a remark in brackets names
    r"arXiv \d+\.\d+",
    r"(?:PR|issue|HTTP/1\.|HTTP/|Llama|Olmo|ZeRO|Update|update|b =) ?\d+",
    r"(?:[Ss]tages?|المرحلة|التحديث) \d",
    r"(?:table|section|equation|appendix|الجدول|القسم|المعادلة|الملحق) (?:A\.)?\d",
    r"(?:[A-Z][a-z]+|مايو|يوليو|أكتوبر) 20\d\d",
    r"A\.\d",
    r"\b\dG\b",  # a mobile network
)  # fmt: skip
HEADING_ID = re.compile(r"\{[#.:][^}]*\}")
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
SPACING = re.compile(r"\\\\\[[\d.]+em\]")
# A half-life has a half, NF4 and eight-bit optimizers work in blocks of 256, and a binary unit has 1024 of the next.
# Every other decimal or large number of a formula belongs to an example.
DEFINED = {"0.5", "256", "1024"}
TERM = r"(?:[\d.,(){} /^*+-]|\\cdot|\\ln|\\,)"
RESULT = re.compile(rf"\d{TERM}*(?:[-+*/^]|\\cdot|\\ln){TERM}*(?:=|\\approx)\s*-?\d[\d.,]*")
SHOWN = re.compile(
    r"""^\[=\s*(?:number|size|rounded)\(\s*["']?(?P<figure>\d[\d.,]*)(?: [kKMGT]i?B)?["']?(?:, \d+)?\s*\)\s*=\]$"""
)


def stripped(page, *patterns):
    for pattern in patterns:
        page = translation.without(pattern, page)
    return page


def prose(page):
    """What a reader reads as words, as far as the source says it."""
    page = stripped(
        translation.body(page), translation.FENCE, translation.MACRO, translation.CODE_SPAN, translation.FORMULA, LINK_TARGET, TAG,
        HEADING_ID,
    )  # fmt: skip
    for name in NAMES:
        page = re.sub(name, " ", page)
    return page


def figures_of(text):
    return [found.replace(",", "") for found in NUMBER.findall(text)]


def telling(figure):
    """Whether it is more than a small count, which a sentence or a formula may name as it is."""
    return "." in figure or len(figure) > 2


def givens(page):
    """What the examples of a page start from: every number that is handed to something that computes."""
    macros = [macro for macro in translation.MACRO.findall(page) if not SHOWN.match(macro)]
    return {figure for macro in macros for figure in figures_of(macro.replace("**", " "))} | DEFINED


def typed_results(page):
    """Numbers that a page types although they come out of something, or stand in a source."""
    page = stripped(translation.body(page), translation.FENCE)
    given = givens(page)
    shown = [found["figure"].replace(",", "") for macro in translation.MACRO.findall(page) if (found := SHOWN.match(macro))]
    formulas = [SPACING.sub(" ", formula) for formula in translation.formulas(page)]
    written = [figure for formula in formulas for figure in figures_of(formula)]
    return [
        *figures_of(prose(page)),
        *(figure for figure in shown + written if telling(figure) and figure not in given),
        *(found[0] for formula in formulas if (found := RESULT.search(formula))),
    ]


@pytest.mark.parametrize("language, name", PAGES)
def test_page_types_no_result(language, name):
    page = (translation.DOCS / language / name).read_text(encoding="utf-8")
    assert typed_results(page) == [], "let a macro compute it, or write it into docs/data/published.json and show it from there"


RESULTS = {
    "in a sentence": ("it took 430.6 seconds", ["430.6"]),
    "in a formula": ("the log said $4.587$", ["4.587"]),
    "a sum that is done": ("peaks at $10 \\cdot 2 / 8 = 2$", ["10 \\cdot 2 / 8 = 2"]),
    "a decimal in a macro": ('[= number("4.587") =]', ["4.587"]),
    "a rounded decimal": ("[= rounded(4.587, 2) =]", ["4.587"]),
    "a large count in a macro": ("[= number(1081344) =]", ["1081344"]),
    "a size that nothing takes": ('[= size("71.97 GiB") =]', ["71.97"]),
    "a small count": ("[= number(8) =] samples, $a = 4$", []),
    "what an example starts from": ('$\\beta_2 = 0.95$ [= out("learning_rate", "new_beta2", beta2="0.95") =]', []),
    "arithmetic": ("[= number(1023 * 50257) =] of [= number(50257) =]", []),
    "a published figure": ('[= published("timm-1659", "network_one") =]', []),
    "versions": ("Transformers 5.24 and torch 2.13 (2.6.6, run), version 0.19.6, 4.x (in 5.x)", []),
    "threads and papers": ("DeepSpeed#7439, PR 34191, arXiv 2507.07101, equation 4", []),
    "formats and names": ("fp16, ZeRO-2, FSDP2, ZeRO 2 or 3, stages 2 and 3, since May 2026", []),
    "a list": ("1. First\n2. Second", []),
}


@pytest.mark.parametrize("page, found", RESULTS.values(), ids=RESULTS)
def test_search_for_results(page, found):
    assert typed_results(page) == found


# Published figures lie in one file, each source with its address or what was run, and the day it was read.

PUBLISHED = published.entries()
CALL = re.compile(r"""(?:published|value|timings)\(("[^)]*")\)""")


def called(page):
    """The figures that a page asks the file for: (source, figure)."""
    return {
        (source, figure)
        for macro in translation.MACRO.findall(page)
        for call in CALL.findall(macro)
        for source, *figures in [re.findall('"([^"]+)"', call)]
        for figure in figures
    }


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_figure_names_source_and_day(name):
    entry = PUBLISHED[name]
    assert set(entry) == {"source", "read", "about", "figures"}
    assert re.match(r"https://\S+$|(?:torch|transformers) \d+\.\d+\.\d+\D", entry["source"])
    assert date.fromisoformat(entry["read"]) > date(2026, 1, 1)
    assert entry["about"]
    assert all(re.fullmatch(r"\d+(?:\.\d+)?(?: [kMGT]i?B)?", figure) for figure in entry["figures"].values())


def test_every_published_figure_is_shown():
    pages = [(translation.DOCS / language / name).read_text(encoding="utf-8") for language, name in PAGES]
    asked = set().union(*(called(page) for page in pages))
    held = {(name, figure) for name, entry in PUBLISHED.items() for figure in entry["figures"]}
    assert held == asked


@pytest.mark.parametrize("name, figure", [("nobody-1", "one"), ("timm-1659", "nothing")])
def test_a_figure_that_is_not_there_stops_the_build(name, figure):
    with pytest.raises(published.PageError):
        published.text(name, figure)


def test_a_size_is_shown_and_not_reckoned_with():
    assert published.text("trl-3342", "card") == "79.10 GiB"
    with pytest.raises(published.PageError):
        published.value("trl-3342", "card")


# The words of the package: what a message says beside its placeholders.

MESSAGES = {
    f"{path.name}: {key}": text
    for path in sorted((SOURCE / "messages").glob("*.json"))
    for key, text in json.loads(path.read_text(encoding="utf-8")).items()
}
# A default, a limit or an example of what to type, and the ends of a range: they define, and nothing computes them.
DEFINITIONS = re.compile(
    r"\.(?:help|label)$|hint\.|error\.|ui\.|recipe\.|choice\.|matrix\.|_clips_at_one$|\.rule_linear$|steps_run_away$"
)


@pytest.mark.parametrize("key", [key for key in MESSAGES if not DEFINITIONS.search(key)])
def test_message_types_no_result(key):
    figures = figures_of(prose(re.sub(r"\{[^}]*\}", " ", MESSAGES[key])))
    assert [figure for figure in figures if telling(figure)] == []
