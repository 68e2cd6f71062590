"""A formula in one line of plain text, for places that show no markup: excerpts of the search, data for search engines.

Read from the MathML that KaTeX writes, so that what stands over and under a line is known and gets its brackets:
``a = E / (b · g)``, where stripping commands from the TeX would say ``E / b · g``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from xml.etree import ElementTree as ET

# Operators that have a space at either side, and what stands for some of them in text.
SPACED = {"⋅": "·", "−": "-", "∣": "|"} | dict.fromkeys("=+≠≈≤≥∈←→⇒", "") | {"⟶": "→", "⟹": "⇒"}
ACCENTS = {"ˉ": "\u0304", "~": "\u0303"}
UNDERBRACE = "⏟"
APPLIED = "\u2061"  # between a function's name and what it is of
GAP = "\u2003"  # between formulas that share a line


# As arithmatex leaves formulas in a text.
TEX = re.compile(r"\\\((?P<inline>.*?)\\\)|\\\[(?P<display>.*?)\\\]", re.DOTALL)


def with_formula_texts(text: str, texts: Mapping[str, str]) -> str:
    r"""A text with each formula between ``\(…\)`` or ``\[…\]`` as plain text, looked up by its TeX.

    ``KeyError`` at a formula that was not rendered.

    >>> with_formula_texts(r"Batch \(b \cdot a\)", {r"b \cdot a": "b · a"})
    'Batch b · a'
    """
    return TEX.sub(lambda match: texts[one_line(match["inline"] or match["display"])], text)


def one_line(tex: str) -> str:
    """The TeX without what means nothing in it."""
    return " ".join(tex.split())


def formula_text(rendered: str) -> str:
    """The text of a formula as ``scripts/katex.mjs`` rendered it; ``ValueError`` at an element that no rule is for.

    Source: the elements of MathML that KaTeX 0.16 writes.
    """
    found = re.search(r"<math.*?</math>", rendered, re.DOTALL)
    if found is None:
        raise ValueError(f"no MathML: {rendered}")
    # One namespace throughout, which would only lengthen the names.
    text = _text(ET.fromstring(found[0].replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")))  # noqa: S314 (our own)
    text = re.sub(rf"{APPLIED} *(?=[(])", "", text).replace(APPLIED, " ")
    text = re.sub(rf"(?<![,←→⇒ ]) *{GAP}[{GAP} ]*(?![←→⇒ {GAP}])", "; ", text)
    text = " ".join(text.split())
    # A sign is one with what it is the sign of; a comma with what it ends.
    text = re.sub(r"(^|[(=,⌈⌊|] ?)- ", r"\1-", text)
    return re.sub(r" (?=[,;)⌉⌋])|(?<=[(⌈⌊]) ", "", text)


def _text(element: ET.Element) -> str:
    rule = RULES.get(element.tag)
    if rule is None:
        raise ValueError(f"a formula has an element that no rule is for: {element.tag}")
    return rule(element)


def _row(element: ET.Element) -> str:
    children = [child for child in element if child.tag != "annotation"]
    return "".join(
        f" ({_text(child).strip()}) " if _is_fraction(child) and _is_factor(children, place) else _text(child)
        for place, child in enumerate(children)
    )


def _is_fraction(element: ET.Element) -> bool:
    return element.tag == "mfrac" or (element.tag == "mstyle" and len(element) == 1 and _is_fraction(element[0]))


def _is_factor(children: list[ET.Element], place: int) -> bool:
    """Whether something is multiplied with a fraction without a sign, or a function is of it."""
    before, after = children[:place][-1:], children[place + 1 :][:1]
    return any(
        near.tag not in {"mo", "mspace"} or _text(near) in {APPLIED, "∑", "∇", bracket}
        for near, bracket in [*((one, ")") for one in before), *((one, "(") for one in after)]
    )


def _name(element: ET.Element) -> str:
    return (element.text or "").replace("∣", "|")


def _operator(element: ET.Element) -> str:
    sign = _row(element) or element.text or ""
    if element.get("fence") == "true":
        return "|" if sign == "∣" else sign
    if len(element):
        return f" {sign} "
    if sign in SPACED:
        return f" {SPACED[sign] or sign} "
    return ", " if sign == "," else sign


def _fraction(element: ET.Element) -> str:
    over, under = (_product(part) for part in element)
    return f" {over}/{under} "


def _power(element: ET.Element) -> str:
    base, power = element
    return _raised(_text(base), power)


def _index(element: ET.Element) -> str:
    # KaTeX hangs the sign of application behind a name below the line, as a third part.
    base, index, *_ = element
    return _lowered(_text(base), index)


def _index_and_power(element: ET.Element) -> str:
    base, index, power = element
    return _raised(_lowered(_text(base), index), power)


def _raised(base: str, power: ET.Element) -> str:
    return base + "′" if _text(power) == "′" else f"{base}^{_product(power)}"


def _lowered(base: str, index: ET.Element) -> str:
    # What a brace says belongs beside what it holds.
    if base.endswith(UNDERBRACE):
        return f"{base.removesuffix(UNDERBRACE)} ({_text(index)}) "
    applied = APPLIED if base.endswith(APPLIED) else ""
    return f"{base.removesuffix(APPLIED)}_{_whole(index)}{applied or (' ' if base == '∑' else '')}"


def _under(element: ET.Element) -> str:
    base, under = element
    return _text(base) + UNDERBRACE if _text(under) == UNDERBRACE else _lowered(_text(base), under)


def _under_and_over(element: ET.Element) -> str:
    base, under, over = element
    return f"{_lowered(_text(base), under).rstrip()}^{_product(over)} "


def _accent(element: ET.Element) -> str:
    base, accent = element
    return _text(base) + ACCENTS[_text(accent)]


def _root(element: ET.Element) -> str:
    inner = _row(element).strip()
    return f"√{inner}" if len(inner) == 1 else f"√({inner})"


def _lines(element: ET.Element) -> str:
    return "; ".join(_row(line).strip() for line in element)


def _whole(element: ET.Element) -> str:
    """In brackets where one would otherwise not see how far it reaches."""
    inner = _text(element).strip()
    return f"({inner})" if re.search(r"[^\w.,′|\u0303\u0304]", inner) and not _bracketed(inner) else inner


def _product(element: ET.Element) -> str:
    """The same where letters side by side are factors: ``1/(fS)``."""
    inner = _whole(element)
    word = all(part.get("mathvariant") == "normal" for part in element)
    factors = element.tag == "mrow" and len(element) > 1 and not word and not re.fullmatch(r"[\d.,]+|\|.*\|", inner)
    return f"({inner})" if factors and not _bracketed(inner) else inner


def _bracketed(text: str) -> bool:
    """Whether one pair of brackets holds it all."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([⌈⌊") - (letter in ")]⌉⌋")
        if depth == 0:
            return place == len(text) - 1 and letter in ")]⌉⌋"
    return False


RULES: dict[str, Callable[[ET.Element], str]] = {
    **dict.fromkeys(("math", "semantics", "mrow", "mstyle", "mtd", "mtr", "mpadded"), _row),
    **dict.fromkeys(("mi", "mn", "mtext"), _name),
    "mo": _operator,
    "mspace": lambda element: GAP if float(element.get("width", "0em").removesuffix("em")) >= 1 else " ",
    "mfrac": _fraction,
    "msup": _power,
    "msub": _index,
    "msubsup": _index_and_power,
    "munder": _under,
    "munderover": _under_and_over,
    "mover": _accent,
    "msqrt": _root,
    "mtable": _lines,
}
