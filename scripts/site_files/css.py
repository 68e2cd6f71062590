"""A stylesheet without the rules that no page can use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
TEXT = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.DOTALL)
SPACE = re.compile(rf"(?P<text>{TEXT.pattern})|\s*(?P<sign>[{{}};])\s*|\s+", re.DOTALL)
CLASS = re.compile(r"\.((?:[A-Za-z_]|-[A-Za-z_-])[\w-]*)")
# An element without the class matches :not(.class), and one alternative of :is() and :where() is enough.
ALTERNATIVES = re.compile(r":(?:not|is|where)\((?:[^()]|\([^()]*\))*\)")
# What the theme can be set to; a page says what it is set to in attributes.
SETTING = re.compile(r'\[(data-md-color-\w+)="?([\w-]+)"?\]')
# The theme has a rule for each of twenty tabs, and every one of them is held against every element; the fields of tabs in use
# have ids that end in the tab's number.
TAB = re.compile(r"\.tabbed-set\b.*:nth-child\((\d+)\)$")
TAB_FIELD = "__tabbed_"
# Holds back transitions while the colours change. The theme's script sets it on the body at each load, and twice a page of
# thousands of elements would be styled anew for nothing.
COSTLY = "[data-md-color-switching]"
NESTING = ("@media", "@supports", "@layer", "@container")


def without_space(css: str) -> str:
    r"""A sheet without comments and without the space that only its readers need.

    >>> print(without_space('a::after { /* an arrow */\n  content: "  {x} ";\n}\n'))
    a::after{content: "  {x} ";}
    """
    return SPACE.sub(lambda match: match["text"] or match["sign"] or " ", COMMENT.sub("", css)).strip()


def used_rules(css: str, words: AbstractSet[str]) -> str:
    """The stylesheet without the selectors that name a class or a setting which is none of ``words``.

    ``words`` are all words of the pages and the scripts, so what a script may add later is kept.

    >>> used_rules(".here,.never{color:red}@media print{.never{color:blue}}p:not(.never){margin:0}", {"here"})
    '.here{color:red}p:not(.never){margin:0}'
    """
    kept = []
    tabs = {word.rpartition("_")[2] for word in words if word.startswith(TAB_FIELD)}
    for head, body in rules(COMMENT.sub("", css)):
        if body is None:
            kept.append(head)
        elif head.startswith(NESTING):
            inner = used_rules(body, words)
            kept += [f"{head}{{{inner}}}"] if inner else []
        elif head.startswith("@"):
            kept.append(f"{head}{{{body}}}")
        else:
            useful = [selector for selector in selectors(head) if is_used(selector, words, tabs)]
            kept += [f"{','.join(useful)}{{{body}}}"] if useful else []
    return "".join(kept)


def rules(css: str) -> Iterator[tuple[str, str | None]]:
    """The rules of one level: head and body, or a statement without a body.

    >>> list(rules('@import "a{";p{margin:0}'))
    [('@import "a{";', None), ('p', 'margin:0')]
    """
    depth = start = opened = 0
    for match in re.finditer(rf"{TEXT.pattern}|[{{}};]", css, re.DOTALL):
        sign, at = match[0], match.start()
        if sign == "{":
            opened = at if depth == 0 else opened
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                yield css[start:opened].strip(), css[opened + 1 : at].strip()
                start = at + 1
        elif sign == ";" and depth == 0:
            yield css[start : at + 1].strip(), None
            start = at + 1


def selectors(head: str) -> list[str]:
    """The alternatives of a head.

    >>> selectors("a:is(b, c), d")
    ['a:is(b, c)', 'd']
    """
    found, depth, start = [], 0, 0
    for at, sign in enumerate(head):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            found.append(head[start:at].strip())
            start = at + 1
    return [*found, head[start:].strip()]


def is_used(selector: str, words: AbstractSet[str], tabs: AbstractSet[str]) -> bool:
    """Whether some element may match: each class, setting and tab it needs is there, in ``words`` or in ``tabs``."""
    plain = ALTERNATIVES.sub("", selector)
    tab = TAB.search(plain)
    if COSTLY in plain or (tab and tab[1] not in tabs):
        return False
    if any(value not in words for _, value in SETTING.findall(plain)):
        return False
    return all(is_named(name, words) for name in CLASS.findall(re.sub(r"\[[^\]]*\]", "", plain)))


def is_named(name: str, words: AbstractSet[str]) -> bool:
    """Whether an element may have the class: some scripts hold its first part only, and complete it.

    >>> is_named("tab--next", {"tab--"}), is_named("tab--next", {"tab", "next"})
    (True, False)
    """
    return name in words or ("--" in name and name[: name.rindex("--") + 2] in words)
