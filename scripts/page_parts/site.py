"""What ``make measure-site`` found, as the page evidence/site shows it (``docs/data/site``)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Any

from gradaccum import figures
from measure_site.pages import LINES, VISITS
from page_parts.answers import PageError, word
from page_parts.markup import left_to_right, tag, text
from paths import DOCS, ROOT

# What was set out to reach: bytes of a first load, scores of Lighthouse, milliseconds from a key to the painted result.
GOALS = {"weight": 200_000, "performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100, "typing": 16}
SCORES = ("performance", "accessibility", "best-practices", "seo")
FILES = {"Document": "html", "Stylesheet": "css", "Script": "scripts", "Font": "fonts"}
NAMES = {"ar": "العربية", "en": "English"}


@cache
def result(part: str) -> dict[str, Any]:
    """One result file."""
    found: dict[str, Any] = json.loads((DOCS / "data" / "site" / f"{part}.json").read_text(encoding="utf-8"))
    return found


@cache
def words() -> dict[str, dict[str, str]]:
    """The words of the tables, by language."""
    found: dict[str, dict[str, str]] = json.loads(
        (ROOT / "scripts" / "measure_site" / "words.json").read_text(encoding="utf-8")
    )
    return found


def is_measured(part: str) -> bool:
    """Whether there is a result file."""
    return (DOCS / "data" / "site" / f"{part}.json").is_file()


def table(part: str, language: str) -> str:
    """A table of one result file; what misses a goal is marked."""
    if not is_measured(part):
        return tag("p", text(words()[language]["unmeasured"]))
    rows = ROWS[part]
    said = words()[language]
    head = tag("tr", *(tag("th", text(said[name]), scope="col") for name in said[f"columns.{part}"].split()))
    body = [tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in rows(language)]
    return tag("table", tag("thead", head), tag("tbody", *body)) + note(part, language)


def note(part: str, language: str) -> str:
    """When, with what and on what it was measured."""
    found = result(part)
    versions = found["versions"]
    values = {
        "date": left_to_right(found["date"]),
        "commit": tag("code", text(found["commit"])),
        "chromium": left_to_right(f"Chromium {versions['chromium']}"),
        "lighthouse": left_to_right(f"Lighthouse {versions['lighthouse']}"),
        "pyodide": left_to_right(f"Pyodide {versions['pyodide']}"),
        "firefox": left_to_right(f"Firefox {found['found']['firefox']}" if part == "firefox" else ""),
        "cores": left_to_right(found["machine"]["cores"]),
        "load": left_to_right(found["machine"]["load"]),
    }
    return tag("p", words()[language][f"note.{part}"].format(**values))


def weights(language: str) -> Iterable[list[str]]:
    """A row for each kind of page, and one for the heaviest page of all."""
    for row in [*result("weight")["found"]["kinds"], *result("weight")["found"]["heaviest"]]:
        kind = words()[language][f"kind.{row.get('kind', 'heaviest')}"]
        parts = [
            kilobytes(sum(size for kind, size in row["by_kind"].items() if FILES.get(kind) == name)) for name in FILES.values()
        ]
        whole = marked(kilobytes(row["bytes"]), language, met=row["bytes"] <= GOALS["weight"])
        yield [page_name(kind, row), whole, left_to_right(row["requests"]), *parts]


def scores(language: str) -> Iterable[list[str]]:
    """A row for each page: four scores and three times."""
    for row in result("lighthouse")["found"]:
        name = page_name(words()[language][f"kind.{row['kind']}"], row)
        if "failure" in row:
            yield [name, unfinished(language), *["–"] * 6]
            continue
        cells = [
            marked(left_to_right(row["scores"][name]), language, met=row["scores"][name] >= GOALS[name]) for name in SCORES
        ]
        times = [
            seconds(row["metrics"][name])
            for name in ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time")
        ]
        yield [name, *cells, *times]


def keys(language: str) -> Iterable[list[str]]:
    """A row for each calculator: Python alone, until the figures stand in the page, and until they are painted."""
    for row in result("typing")["found"]:
        times = [milliseconds(row[part][point]) for part in ("python", "in_page", "painted") for point in ("p50", "p95")]
        painted = marked(times.pop(), language, met=row["painted"]["p95"] <= GOALS["typing"])
        yield [calculator_name(row, language), *times, painted]


def starts(language: str) -> Iterable[list[str]]:
    """A row for each line: a first visit and two later ones."""
    for row in result("boot")["found"]:
        speed = left_to_right(f"{figures.format_decimal(Fraction(row['bits'], 1_000_000), 1)} Mbit/s" if row["bits"] else "–")
        delay = left_to_right(f"{row['delay']} ms")
        visits = [unfinished(language), "–", "–"] if "failure" in row else spent(row)
        yield [text(words()[language][f"line.{row['line']}"]), speed, delay, *visits]


def in_firefox(language: str) -> Iterable[list[str]]:
    """A row for each calculator: a first visit and two later ones, keys, and errors on the console."""
    for row in result("firefox")["found"]["rows"]:
        times = [milliseconds(row["in_page"]["p95"]), milliseconds(row["painted"]["p95"])]
        faults = marked(left_to_right(len(row["faults"])), language, met=not row["faults"])
        yield [calculator_name(row, language), *spent(row), *times, faults]


def spent(row: dict[str, Any]) -> list[str]:
    """From the first key to the live result: on a first visit, with files kept, with the memory kept too."""
    return [seconds(row[name]) for name in VISITS]


ROWS: dict[str, Callable[[str], Iterable[list[str]]]] = {
    "weight": weights,
    "lighthouse": scores,
    "typing": keys,
    "boot": starts,
    "firefox": in_firefox,
}


def calculator_name(row: dict[str, Any], language: str) -> str:
    """The calculator and the language of its page."""
    return page_name(word(f"calculator.{row['calculator']}.title", language), row)


def unfinished(language: str) -> str:
    """Stands where a measurement came to no end."""
    return marked("–", language, met=False)


def page_name(name: str, row: dict[str, Any]) -> str:
    """The page and its language, in the words of the reader's."""
    return f"{text(name)} ({tag('bdi', text(NAMES[row['language']]), lang=row['language'])})"


def marked(cell: str, language: str, *, met: bool) -> str:
    """A figure, marked in words where it misses its goal."""
    return cell if met else f"{cell} {tag('span', text(words()[language]['missed']), class_='ga-fails')}"


def kilobytes(size: int) -> str:
    """Bytes as thousands of them."""
    return left_to_right(f"{figures.format_decimal(Fraction(size, 1000), 1)} kB")


def seconds(milliseconds: float) -> str:
    """Milliseconds as seconds."""
    return left_to_right(f"{figures.format_decimal(Fraction(milliseconds) / 1000, 2)} s")


def milliseconds(value: float) -> str:
    """Milliseconds to a tenth."""
    return left_to_right(f"{figures.format_decimal(Fraction(value), 1)} ms")


def snapshot(name: str) -> str:
    """A figure of the trial with a memory snapshot: processor time, or bytes, or the one set against the other."""
    found = result("snapshot")["found"]
    if name == "gain":
        return seconds(found["ordinary"] - found["restored"])
    if name.startswith("download_"):
        bits, _ = LINES[name.removeprefix("download_")]
        return seconds(found["snapshot_packed"] * 8 * 1000 / bits)
    if name in {"ordinary", "restored"}:
        return seconds(found[name])
    return left_to_right(f"{figures.format_decimal(Fraction(found[name], 10**6), 1)} MB")


def typing(name: str) -> str:
    """What a key takes at the 95th percentile: one part of it in the slowest row, or all of it in the fastest."""
    rows = sorted(result("typing")["found"], key=lambda row: float(row["in_page"]["p95"]))
    row, part = (rows[0], "in_page") if name == "fastest" else (rows[-1], name)
    return milliseconds(row[part]["p95"])


def goal(name: str) -> str:
    """What was set out to reach."""
    return left_to_right({"weight": f"{GOALS['weight'] // 1000} kB", "typing": f"{GOALS['typing']} ms"}.get(name, GOALS[name]))


def missed(part: str, language: str) -> str:
    """How many rows of a table miss a goal, in words; nothing where the table has none."""
    if not is_measured(part):
        return ""
    found = [any("ga-fails" in cell for cell in row) for row in ROWS[part](language)]
    if not found:
        raise PageError(f"nothing was measured: {part}")
    return words()[language]["count.none" if not any(found) else "count.some"].format(
        missed=left_to_right(sum(found)), rows=left_to_right(len(found))
    )
