"""Compare each Arabic page with the English page it was made from.

``python scripts/translation.py`` lists what differs and exits 1 if anything does.
``python scripts/translation.py --update [PAGE ...]`` writes the English page's hash into the Arabic front matter:
to be done after the Arabic page was read against the English one, because the hash says that it was.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from paths import DOCS

ENGLISH, ARABIC = DOCS / "en", DOCS / "ar"

FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^ *(?P=fence) *$", re.DOTALL | re.MULTILINE)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
MACRO = re.compile(r"\[=.*?=\]|\[%.*?%\]", re.DOTALL)
FORMULA = re.compile(r"\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|(?<![\\$])\$(?!\s)(?:\\.|[^\\$])+?(?<!\s)\$", re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)[^)]*\)|<(https?://[^>\s]+)>|href=\"([^\"]+)\"")
HEADING = re.compile(r"^(#{1,6}) +(.*?)(?: *\{#([\w-]+)[^}]*\})? *$", re.MULTILINE)
HASH_LINE = re.compile(r'^source_hash: *"?([0-9a-f]*)"? *$', re.MULTILINE)


def source_hash(english: str) -> str:
    """What the Arabic page must carry to say that it was made from this English text."""
    return hashlib.sha256(english.encode()).hexdigest()[:16]


def without(pattern: re.Pattern[str], page: str) -> str:
    """The page with every match blanked out."""
    return pattern.sub(" ", page)


def body(page: str) -> str:
    """The page without its front matter."""
    return FRONT_MATTER.sub("", page)


def squeezed(found: str) -> str:
    """The text with every run of blanks as one, since line breaks may differ."""
    return " ".join(found.split())


def code_blocks(page: str) -> list[str]:
    """Fenced code, as it stands."""
    return [match[0].strip() for match in FENCE.finditer(body(page))]


def headings(page: str) -> list[str]:
    """Level and id of every heading, in their order; a heading without an id shows as such."""
    return [f"{mark} {{#{ident or '?'}}}" for mark, _, ident in HEADING.findall(without(FENCE, body(page)))]


def macro_calls(page: str) -> list[str]:
    """Calls of macros."""
    return [squeezed(match[0]) for match in MACRO.finditer(without(FENCE, body(page)))]


def formulas(page: str) -> list[str]:
    """TeX with its marks."""
    text = without(CODE_SPAN, without(MACRO, without(FENCE, body(page))))
    return [squeezed(match[0]) for match in FORMULA.finditer(text)]


def links(page: str) -> list[str]:
    """Targets of links."""
    text = without(FORMULA, without(CODE_SPAN, without(MACRO, without(FENCE, body(page)))))
    return [next(target for target in match.groups() if target is not None) for match in LINK.finditer(text)]


# Headings must also come in the same order; the rest may move within a sentence.
PARTS: dict[str, Callable[[str], list[str]]] = {
    "code block": code_blocks,
    "macro call": macro_calls,
    "formula": formulas,
    "link": links,
}


def differences(english: str, arabic: str) -> list[str]:
    """What the Arabic page lacks or has beyond the English one."""
    found = []
    if headings(english) != headings(arabic):
        found.append(f"headings differ: {headings(english)} and {headings(arabic)}")
    for name, part in PARTS.items():
        wanted, present = Counter(part(english)), Counter(part(arabic))
        found += [f"missing {name} (×{count}): {value}" for value, count in (wanted - present).items()]
        found += [f"extra {name} (×{count}): {value}" for value, count in (present - wanted).items()]
    return found


def is_stale(english: str, arabic: str) -> bool:
    """Whether the English page has changed since the Arabic one was last read against it."""
    front = FRONT_MATTER.match(arabic)
    stamp = HASH_LINE.search(front[1]) if front else None
    return stamp is None or stamp[1] != source_hash(english)


def stamped(english: str, arabic: str) -> str:
    """The Arabic page with the hash in its front matter."""
    line = f'source_hash: "{source_hash(english)}"'
    front = FRONT_MATTER.match(arabic)
    if front is None:
        return f"---\n{line}\n---\n\n{arabic}"
    if HASH_LINE.search(front[1]):
        return arabic[: front.start(1)] + HASH_LINE.sub(line, front[1]) + arabic[front.end(1) :]
    return f"{arabic[: front.end(1)]}\n{line}{arabic[front.end(1) :]}"


def page_names(folder: Path) -> list[str]:
    """Pages below a language's folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))


def faults() -> list[str]:
    """Everything that is wrong, a line each."""
    english, arabic = page_names(ENGLISH), page_names(ARABIC)
    found = [f"{name}: only in one language" for name in sorted(set(english) ^ set(arabic))]
    for name in sorted(set(english) & set(arabic)):
        source, page = (ENGLISH / name).read_text(encoding="utf-8"), (ARABIC / name).read_text(encoding="utf-8")
        found += [f"{name}: {difference}" for difference in differences(source, page)]
        if is_stale(source, page):
            found.append(f"{name}: the English page has changed; review the Arabic one, then --update {name}")
    return found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="stamp the pages instead of comparing them")
    parser.add_argument("pages", nargs="*", help="for example learn/concept.md (default: every page in both languages)")
    arguments = parser.parse_args()
    if not arguments.update:
        found = faults()
        print("\n".join(found) or "The pages of both languages agree.")
        sys.exit(bool(found))
    for name in arguments.pages or sorted(set(page_names(ENGLISH)) & set(page_names(ARABIC))):
        source, page = (ENGLISH / name).read_text(encoding="utf-8"), (ARABIC / name).read_text(encoding="utf-8")
        if is_stale(source, page):
            (ARABIC / name).write_text(stamped(source, page), encoding="utf-8")
            print(f"stamped {name}")


if __name__ == "__main__":
    main()
