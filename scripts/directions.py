"""Arabic words inside blocks of code: their lines run from left to right, and would tear the words apart at each Latin one."""

from __future__ import annotations

import re

ARABIC = r"[^<\n]*[\u0621-\u064a][^<\n]*"
# What stands before the words, and what ends them: a comment, a string, a line of help beside its option.
COMMENT = re.compile(rf'(<span class="c1"># )({ARABIC})(?=</span>)')
STRING = re.compile(rf'(<span class="s2">")({ARABIC})(?="</span>)')
LISTING = re.compile(r"(?<=<pre><span></span><code>)[^<]*(?=</code></pre>)")
HELP = re.compile(rf"^((?:.* {{2,}})?)(?!\S+ gradaccum )({ARABIC})$", re.MULTILINE)


def with_whole_words(html: str) -> str:
    """The page with the Arabic words of its code set apart, each run in its own direction; the text stays the same.

    >>> with_whole_words('<span class="c1"># DDP في</span>')
    '<span class="c1"># <bdi dir="rtl">DDP في</bdi></span>'
    """
    for pattern in (COMMENT, STRING):
        html = pattern.sub(_apart, html)
    return LISTING.sub(lambda listing: HELP.sub(_apart, listing[0]), html)


def _apart(found: re.Match[str]) -> str:
    return f'{found[1]}<bdi dir="rtl">{found[2]}</bdi>'
