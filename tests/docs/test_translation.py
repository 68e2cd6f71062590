"""Both languages say the same: same files, headings, code, links, formulas and macro calls."""

import re

import pytest

import translation

PAGES = translation.page_names(translation.ENGLISH)


def text_of(folder, name):
    return (folder / name).read_text(encoding="utf-8")


def test_there_are_pages():
    assert len(PAGES) >= 10


def test_both_languages_have_the_same_files():
    assert translation.page_names(translation.ARABIC) == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_page_has_the_same_parts_in_both_languages(name):
    assert translation.differences(text_of(translation.ENGLISH, name), text_of(translation.ARABIC, name)) == []


@pytest.mark.parametrize("name", PAGES)
def test_arabic_page_was_made_from_this_english_page(name):
    stale = translation.is_stale(text_of(translation.ENGLISH, name), text_of(translation.ARABIC, name))
    assert not stale, f"the English page has changed; review the Arabic one, then: scripts/translation.py --update {name}"


@pytest.mark.parametrize("folder", [translation.ENGLISH, translation.ARABIC], ids=["en", "ar"])
@pytest.mark.parametrize("name", PAGES)
def test_every_heading_has_an_id_of_its_own(folder, name):
    ids = [heading.split("#")[-1] for heading in translation.headings(text_of(folder, name))]
    assert "?}" not in ids
    assert len(ids) == len(set(ids))


LEFT_TO_RIGHT = re.compile(r'<bdi dir="ltr">.*?</bdi>')
# A formula and the figure it comes to are two pieces to a browser, which an Arabic line puts the other way round.
TORN_SUM = re.compile(r"=\s*\$\s*\[=|(?:\$|=\])\s+[=≈·×/+−]\s+(?:\$|\[=)")


def torn_sums(page):
    return TORN_SUM.findall(LEFT_TO_RIGHT.sub(" ", translation.without(translation.FENCE, page)))


@pytest.mark.parametrize("name", PAGES)
def test_a_formula_and_its_result_read_in_one_direction(name):
    assert torn_sums(text_of(translation.ARABIC, name)) == []


@pytest.mark.parametrize(
    "line, torn", [("$b =$ [= a =]", 1), ("[= a =] · [= b =]", 1), ("$b$ = [= a =]", 1), ("$b$ و[= a =]", 0)]
)
def test_a_torn_sum_is_found(line, torn):
    assert len(torn_sums(line)) == torn
    assert torn_sums(f'<bdi dir="ltr">{line}</bdi>') == []


ENGLISH = """\
---
title: T
---

# Title {#title}

Text with $b$, [a link](learn/memory.md#next), `code with $` and [= size("0.5 GB") =].

$$E = b \\cdot a$$

```python
print("$x$")
```

## Next {#next}
"""

ARABIC = ENGLISH.replace("Title", "عنوان").replace("Text with ", "نص فيه و")


def test_a_faithful_page_has_no_differences():
    assert translation.differences(ENGLISH, ARABIC) == []


BREAKS = {
    "a heading without its id": ("# عنوان {#title}", "# عنوان", "headings"),
    "another id": ("{#next}", "{#after}", "headings"),
    "another level": ("## Next", "### Next", "headings"),
    "another formula": ("$b$", "$g$", "formula"),
    "another displayed formula": ("b \\cdot a", "a \\cdot b", "formula"),
    "another link": ("memory.md#next", "memory.md", "link"),
    "another number in a macro": ("0.5 GB", "0.6 GB", "macro call"),
    "changed code": ('print("$x$")', 'print("$y$")', "code block"),
    "a lost code block": ('```python\nprint("$x$")\n```', "", "code block"),
}


@pytest.mark.parametrize("old, new, part", BREAKS.values(), ids=BREAKS)
def test_each_difference_is_found(old, new, part):
    assert ARABIC.count(old) == 1
    assert any(part in difference for difference in translation.differences(ENGLISH, ARABIC.replace(old, new)))


def test_stamp_holds_until_the_english_page_changes():
    stamped = translation.stamped(ENGLISH, ARABIC)
    assert translation.is_stale(ENGLISH, ARABIC)
    assert not translation.is_stale(ENGLISH, stamped)
    assert translation.is_stale(ENGLISH + "more\n", stamped)


def test_stamp_replaces_the_one_before_and_leaves_the_page_alone():
    once = translation.stamped(ENGLISH, ARABIC)
    again = translation.stamped(ENGLISH + "more\n", once)
    assert again.count("source_hash") == 1
    assert translation.body(again) == translation.body(ARABIC)
