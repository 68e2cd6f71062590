"""Other spellings of the Arabic words of a page, for the search index.

The search in the browser compares letters, so a word is found only as it is written on the page. Readers write it without
vowel marks, with a bare alef, with ه for ة, with or without the article: those forms go into fields of the index that are
searched and never shown; ``search_index.py`` puts them there.
"""

from __future__ import annotations

import html
import re

MARKS = re.compile("[\u064b-\u065f\u0670\u0640\u200c\u200d]")
WORD = re.compile("[\u0621-\u063a\u0640-\u065f\u0670\u0671\u200c]+")
TAG = re.compile(r"<[^>]+>")
LETTERS = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ئ": "ي", "ؤ": "و"})
# Particles that are written together with the word behind them; the longest comes first.
PARTICLES = re.compile("^[وف]?(?:[بك]?ال|لل|[بلك])|^[وف]")
SHORTEST_STEM = 3


def forms(word: str) -> set[str]:
    """Spellings under which a reader may look for the word, other than the one given.

    >>> sorted(forms("التدرّجات"))
    ['التدرجات', 'تدرجات']
    >>> sorted(forms("الدفعة"))
    ['الدفعه', 'دفعة', 'دفعه']
    >>> "الاجهزة" in forms("وللأجهزة")
    True
    """
    bare = MARKS.sub("", word)
    found = {bare}
    stem = PARTICLES.sub("", bare)
    if len(stem) >= SHORTEST_STEM:
        found |= {stem, f"ال{stem}"}
    found |= {form.translate(LETTERS) for form in found}
    found |= {f"{form[:-1]}ه" for form in found if form.endswith("ة")}
    return found - {word}


def forms_of_text(text: str) -> str:
    """The forms of every word in a piece of HTML, apart from words that stand there anyway."""
    words = set(WORD.findall(html.unescape(TAG.sub(" ", text))))
    return " ".join(sorted({form for word in words for form in forms(word)} - words))
