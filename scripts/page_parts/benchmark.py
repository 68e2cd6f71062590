"""What the pages show of the committed result files of the benchmark: verdicts, figures, plots, runs."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from bench import plots, results, wording
from bench.claims import CLAIMS
from gradaccum import figures
from page_parts.answers import PageError
from page_parts.markup import left_to_right, tag, text
from paths import DOCS, ROOT

FOLDER = DOCS / "data" / "benchmark"
KINDS = ("cpu", "cuda")
REPOSITORY = re.compile(r"^  repository: (\S+)$", re.MULTILINE)
Document = dict[str, Any]


@lru_cache
def documents() -> tuple[Document, ...]:
    """The result files; one that must not be shown stops the build."""
    found = results.load(FOLDER)
    if complaints := [fault for one in found for fault in results.faults(one, one["file"])]:
        raise PageError("; ".join(complaints))
    return tuple(found)


def claims(language: str) -> str:
    """Every claim with its verdict on each kind of device, linked to its section."""
    said = wording.words(language)
    head = [said["ui.claim"], *(said[f"kind.{kind}"] for kind in KINDS)]
    rows = [[statement(name, language), *(latest_verdict(name, kind, language) for kind in KINDS)] for name in CLAIMS]
    return table(head, rows)


def statement(name: str, language: str) -> str:
    """The claim, as a link to its section."""
    return tag("a", text(wording.statement(name, language)), href=f"#{name}")


def latest_verdict(name: str, kind: str, language: str) -> str:
    """The newest verdict on this kind of device, or that there is none yet."""
    judged = [one for one in measured_on(name) if one["device"]["kind"] == kind]
    if not judged:
        return tag("span", text(wording.words(language)["ui.not_yet"]), class_="ga-verdict")
    return verdict(judged[-1], name, language)


def measured_on(name: str) -> list[Document]:
    """The runs that measured a claim."""
    if name not in CLAIMS:
        raise PageError(f"no claim {name!r}; there are {', '.join(CLAIMS)}")
    return [one for one in documents() if one["claims"][name]["verdict"] != "not_measured"]


def verdict(document: Document, name: str, language: str) -> str:
    """The verdict, marked so that it shows without colour as well."""
    entry = document["claims"][name]
    mark = {"holds": "✓", "fails": "✗"}.get(entry["verdict"], "·")
    return tag("span", f"{mark} {text(wording.verdict(name, document, language))}", class_=f"ga-verdict ga-{entry['verdict']}")


def claim(name: str, language: str) -> str:
    """The figures of a claim beside their bounds, a column for each run; and that no GPU ran it, where none did."""
    said = wording.words(language)
    runs = measured_on(name)
    head = [said["ui.figure"], said["ui.bound"], *(one["device"]["name"] for one in runs)]
    shown = [{row[0]: row for row in wording.shown(CLAIMS[name], one["claims"][name], one["device"]["kind"])} for one in runs]
    rows = [
        [
            text(said[f"figure.{figure}"]),
            left_to_right(next(one[figure][2] for one in shown if figure in one)),
            *(left_to_right(one[figure][1]) if figure in one else "" for one in shown),
        ]
        for figure in dict.fromkeys(figure for one in shown for figure in one)
    ]
    rows.append([text(said["ui.verdict"]), "", *(verdict(one, name, language) for one in runs)])
    parts = [tag("div", table(head, rows), class_="ga-claim")]
    parts += [
        tag("p", text(f"{one['device']['name']}: {why}")) for one in runs if (why := wording.why(one["claims"][name], language))
    ]
    if all(one["device"]["kind"] != "cuda" for one in runs):
        parts.append(tag("p", tag("small", text(said["ui.no_gpu"]))))
    return "".join(parts)


def figure(name: str, which: str) -> str:
    """One figure of the newest run that measured the claim."""
    runs = measured_on(name)
    found = CLAIMS[name].figures(runs[-1]["claims"][name]["measured"]) if runs else {}
    if which not in found:
        raise PageError(f"{name} has no figure {which!r}; it has {', '.join(found)}")
    return left_to_right(wording.figure(which, found[which]))


def plot(name: str, language: str) -> str:
    """The plot of the newest run on each kind of device."""
    runs = {one["device"]["kind"]: one for one in measured_on(name)}
    pictures = []
    for one in runs.values():
        picture = plots.draw(name, one["claims"][name]["measured"], language)
        if not picture:
            raise PageError(f"nothing to draw of {name}")
        caption = f"{text(wording.words(language)[f'plot.{name}'])} {left_to_right(one['device']['name'])}"
        pictures.append(tag("figure", picture, tag("figcaption", caption), class_="ga-plot"))
    return "".join(pictures)


def peaks(language: str) -> str:
    """Predicted and measured peak of every configuration, for each run."""
    said = wording.words(language)
    head = [said[f"ui.{key}"] for key in ("configuration", "predicted", "peak", "gap", "kernel")]
    parts = []
    for one in measured_on("predicted_peaks"):
        rows = [peak_row(row, said) for row in one["claims"]["predicted_peaks"]["measured"]["rows"]]
        parts.append(tag("p", text(one["device"]["name"]), class_="ga-caption") + table(head, rows))
    return "".join(parts)


def peak_row(row: dict[str, Any], said: dict[str, str]) -> list[str]:
    """One configuration."""
    name, predicted = tag("code", text(row["name"]), dir="ltr"), left_to_right(figures.format_size(row["predicted"], "binary"))
    if "peak" not in row:
        return [name, predicted, text(said["ui.out_of_memory"]), "", ""]
    kernel = said[f"kernel.{row['kernel']}"] if row["kernel"] else said["ui.no_kernel"]
    gap = left_to_right(f"{100 * (row['peak'] / row['predicted'] - 1):+.2f} %")
    return [name, predicted, left_to_right(figures.format_size(row["peak"], "binary")), gap, text(kernel)]


def runs(language: str) -> str:
    """The committed runs."""
    said = wording.words(language)
    head = [said[f"ui.{key}"] for key in ("device", "date", "ranks", "model", "versions", "file")]
    rows = []
    for one in documents():
        versions = ", ".join(f"{name} {number}" for name, number in one["versions"].items())
        link = f"{repository()}/blob/main/docs/data/benchmark/{one['file']}"
        cells = [one["device"]["name"], one["date"], str(one["ranks"]), one["model"], versions]
        rows.append([*map(left_to_right, cells), tag("a", "JSON", href=link)])
    note = "" if any(one["device"]["kind"] == "cuda" for one in documents()) else tag("p", text(said["ui.no_gpu"]))
    return table(head, rows) + note


@lru_cache
def repository() -> str:
    """Where the project's sources are, as the site's configuration says."""
    found = REPOSITORY.search((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    if found is None:
        raise PageError("mkdocs.yml names no repository")
    return found[1]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of cells that are HTML already; its head is text."""
    body = [tag("tr", *(tag("td", cell) for cell in row)) for row in rows]
    return tag("table", tag("thead", tag("tr", *(tag("th", text(cell), scope="col") for cell in head))), tag("tbody", *body))
