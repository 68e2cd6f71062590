"""HTML as text, one line per block.

Markdown ends a raw block inside a list or an admonition at a line that is not indented, so nothing here holds a line break:
those of code and data become ``&#10;``.
"""

from __future__ import annotations

import re
from html import escape

UNIT = r"(?<=\d) (?=(?:[KMGT]i?)?B\b|%)|(?<=arXiv) (?=\d)"
VOID = {"input", "br", "hr", "meta", "link"}


def text(value: object) -> str:
    r"""Text made safe for HTML.

    >>> text("a < b\nc")
    'a &lt; b&#10;c'
    """
    return escape(str(value)).replace("\n", "&#10;")


def prose(value: object) -> str:
    r"""Text made safe for HTML where no line ends between a number and its unit or archive, as ``unbroken`` of dom.mjs does.

    >>> prose("16,000 B = 14.9 KiB < 0.1 % of it")
    '16,000\xa0B = 14.9\xa0KiB &lt; 0.1\xa0% of it'
    >>> prose("(arXiv 2507.07101)")
    '(arXiv\xa02507.07101)'
    """
    return re.sub(UNIT, "\u00a0", text(value))


def with_whole_terms(value: object) -> str:
    """Text made safe for HTML whose Latin terms are not broken at a hyphen: in Arabic the second half would stand far away.

    >>> with_whole_terms("بصمة SHA-256")
    'بصمة <span class="ga-whole">SHA-256</span>'
    """
    return re.sub(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+", lambda term: tag("span", term[0], class_="ga-whole"), text(value))


def tag(name: str, /, *children: str, **attributes: object) -> str:
    """One element. Children are HTML already; ``class_`` and ``data_field`` stand for ``class`` and ``data-field``.

    >>> tag("p", text("1 < 2"), class_="ga-help", hidden=True)
    '<p class="ga-help" hidden>1 &lt; 2</p>'
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        parts.append(attribute if value is True else f'{attribute}="{text(value)}"')
    opening = f"<{' '.join(parts)}>"
    return opening if name in VOID else f"{opening}{''.join(children)}</{name}>"


def isolated(value: str) -> str:
    """Text that keeps its direction where no element can stand, as in the choices of a list."""
    return f"\u2068{value}\u2069"


def left_to_right(value: object) -> str:
    """A quantity that keeps its order inside Arabic text.

    >>> left_to_right("16.5 GiB")
    '<bdi dir="ltr">16.5 GiB</bdi>'
    """
    return tag("bdi", text(value), dir="ltr")


def formula(tex: str, *, display: bool = False, class_: str = "arithmatex") -> str:
    """TeX between the marks that ``postbuild`` looks for; it puts rendered mathematics in their place."""
    if display:
        return tag("div", rf"\[{text(tex)}\]", class_=class_)
    return tag("span", rf"\({text(tex)}\)", class_=class_)


def code_block(source: str, language: str, title: str | None = None) -> str:
    """A fenced block for Markdown, with a fence longer than any in the source."""
    fence = "```"
    while fence in source:
        fence += "`"
    heading = f' title="{title}"' if title else ""
    return f"{fence}{language}{heading}\n{source.rstrip()}\n{fence}"
