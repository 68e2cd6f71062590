"""The fonts that the site serves: of each file a small part that holds what the pages say, and the whole for everything else.

A browser fetches a file only when the page shows a character of its ``unicode-range``. The parts below hold the letters,
digits and signs in use; a page that shows another one (a Persian letter, a rare operator) fetches the whole file besides.

The fonts of text are optional: each page asks for those of its language first, and a line too slow to bring them before the
text is painted shows the first page in a font of the system. Lines that break anew while they are being read cost more than
the look of one page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset

from paths import NODE_MODULES

# The heavier one answers for 700 as well: a third weight would cost every reader some twenty kilobytes.
REGULAR, BOLD = {400: "400"}, {600: "600 900"}
# Package under @fontsource, subset, family name, weights. The Arabic family draws Latin letters too, so both scripts match;
# they have a name of their own, or a browser that waits for the other Latin ones would fetch these as well.
# Bold code is rare, and browsers thicken the regular weight well enough.
FONTS = (
    ("ibm-plex-sans-arabic", "arabic", "IBM Plex Sans Arabic", REGULAR | BOLD),
    ("ibm-plex-sans-arabic", "latin", "IBM Plex Sans Arabic Latin", REGULAR | BOLD),
    ("ibm-plex-sans", "latin", "IBM Plex Sans", REGULAR | BOLD),
    ("ibm-plex-mono", "latin", "IBM Plex Mono", REGULAR),
)
EVERYTHING = range(0x110000)


def points(*spans: tuple[int, int], signs: str = "") -> frozenset[int]:
    """Code points of spans, both ends included, and of single characters."""
    return frozenset(point for first, last in spans for point in range(first, last + 1)).union(map(ord, signs))


# Line ends, joiners and marks of direction have no shape, but a range without them would have the whole file fetched for them.
SHAPELESS = points((0, 0x20), (0x2000, 0x200F), (0x2028, 0x202F), (0x2060, 0x206F), signs="\u00a0\u00ad")
ASCII = points((0x20, 0x7E))
ARABIC = points((0x621, 0x63A), (0x640, 0x652), (0x660, 0x66C), signs="\u060c\u061b\u061f\u0670")
LATIN = ASCII | points(signs="¶«»·×÷±°²³µ–—‘’“”•…′≤≥≈≠−→←") | SHAPELESS
FORMULAS = (
    ASCII | points(signs="ΔΣαβγδεηθλμπρστφϕϵ×·ˉ±…′ℓ←→⇒∂∇∈∑∏−∞∣∥≈≠≡≤≥⋅⋯⌈⌉⌊⌋⏟⟶⟹\ue020") | SHAPELESS
)  # the last strikes through: ≠
# The others draw a sign here and there, or are small.
SPLIT = {"KaTeX_Main-Regular", "KaTeX_Math-Italic", "KaTeX_Size1-Regular", "KaTeX_Size2-Regular"}
CORES = {"arabic": ARABIC, "latin": LATIN}


def copy_fonts(target: Path) -> None:
    """Copy the weights and subsets in use, whole and in part, and write the stylesheet that declares them."""
    target.mkdir(parents=True, exist_ok=True)
    rules = []
    for package, name, family, weights in FONTS:
        source = NODE_MODULES / "@fontsource" / package
        (target / f"LICENSE.{package}").write_bytes((source / "LICENSE").read_bytes())
        ranges: dict[str, str] = json.loads((source / "unicode.json").read_text(encoding="utf-8"))
        declared = parse_ranges(ranges[name])
        for weight, answers_for in weights.items():
            whole = source / "files" / f"{package}-{name}-{weight}-normal.woff2"
            core = write_core(whole, target, CORES[name])
            (target / whole.name).write_bytes(whole.read_bytes())
            face = f'font-family:"{family}";font-style:normal;font-weight:{answers_for};font-display:optional'
            rules += two_faces(face, core, whole.name, CORES[name], declared)
    (target / "fonts.css").write_text("".join(rules), encoding="utf-8")


def split_katex_fonts(folder: Path) -> None:
    """Give the fonts that nearly every formula needs, in KaTeX's stylesheet in ``folder``, a part for those of the pages."""
    sheet = folder / "katex.min.css"

    def split(match: re.Match[str]) -> str:
        whole = folder / match["path"]
        if whole.stem not in SPLIT:
            return match[0]
        core = write_core(whole, whole.parent, FORMULAS)
        return "".join(two_faces(match["face"].rstrip(";"), f"fonts/{core}", match["path"], FORMULAS, EVERYTHING))

    pattern = r'@font-face\{(?P<face>[^}]*?);?src:url\((?P<path>fonts/[^)]+)\) ?format\("woff2"\)\}'
    read = sheet.read_text(encoding="utf-8")
    written, count = re.subn(pattern, split, read)
    if count != read.count("@font-face"):
        raise SystemExit("fonts: KaTeX declares its fonts in another way than this script reads")
    sheet.write_text(written, encoding="utf-8")


def two_faces(face: str, core: str, whole: str, held: Iterable[int], declared: Iterable[int]) -> list[str]:
    """The rule for the part, and the rule for all that the part leaves to the whole."""
    rest = set(declared).difference(held, SHAPELESS)
    return [
        f'@font-face{{{face};src:url({name}) format("woff2");unicode-range:{write_ranges(covered)}}}\n'
        for name, covered in ((core, set(held).intersection(declared)), (whole, rest))
        if covered
    ]


def write_core(whole: Path, folder: Path, held: Iterable[int]) -> str:
    """Write the part of a font that draws ``held``, with all its ways of joining them, and return its name.

    Of the names inside it keeps copyright and licence only: under the licence a changed font may not bear the reserved name.
    """
    options = subset.Options()
    options.name_IDs = [0, 13, 14]
    options.flavor = "woff2"
    options.layout_features = ["*"]
    options.hinting = False
    options.notdef_outline = True
    font = subset.load_font(str(whole), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=held)
    subsetter.subset(font)
    name = f"{whole.stem}.core.woff2"
    subset.save_font(font, str(folder / name), options)
    return name


def parse_ranges(text: str) -> set[int]:
    """Read a ``unicode-range``.

    >>> sorted(parse_ranges("U+20-22,U+A0"))
    [32, 33, 34, 160]
    """
    found: set[int] = set()
    for part in text.upper().split(","):
        first, _, last = part.strip().removeprefix("U+").partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return found


def write_ranges(covered: Iterable[int]) -> str:
    """Write a ``unicode-range``.

    >>> write_ranges([32, 33, 34, 160])
    'U+20-22,U+A0'
    """
    spans: list[list[int]] = []
    for point in sorted(covered):
        if spans and point == spans[-1][1] + 1:
            spans[-1][1] = point
        else:
            spans.append([point, point])
    return ",".join(f"U+{first:X}" if first == last else f"U+{first:X}-{last:X}" for first, last in spans)
