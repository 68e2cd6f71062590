"""Plots of the measured points, as SVG on one line: the page takes them in, and a run writes them beside its result.

Time and size run from left to right in both languages; colours are the page's where there is a page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.wording import words
from gradaccum import figures

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400, 260, 76, 8, 30, 44
INK, SOFT, LINE = "var(--ga-ink, #17323a)", "var(--ga-ink-soft, #4a6169)", "var(--ga-line, #c9d8d8)"
COLOURS = ("var(--ga-accent, #0b6b66)", "var(--ga-warm, #b25309)")
Point = tuple[float, float]


def draw(name: str, measured: dict[str, Any], language: str) -> str:
    """The plot of a claim; empty where there is nothing to draw."""
    said = words(language)
    rows = measured.get("points") or [row for row in measured.get("rows", ()) if "peak" in row]
    return PLOTS[name](rows, said) if name in PLOTS and rows else ""


def write_plots(document: dict[str, Any], path: Path, language: str) -> None:
    """One file for each plot, beside the result file."""
    for name, entry in document["claims"].items():
        if picture := draw(name, entry["measured"], language):
            path.with_name(f"{path.stem}_{name}.svg").write_text(picture + "\n", encoding="utf-8")


def _size(value: float) -> str:
    return figures.format_size(round(value), "binary")


class Plot:
    """A frame with its scales. `positions` are spread evenly: they double from one to the next."""

    def __init__(self, title: str, axis: str, positions: Sequence[float], highest: float, show: Callable[[float], str]) -> None:
        self.positions, self.highest = list(positions), highest * 1.05
        # A word and its letter stand in the order of their own language, though the picture runs from left to right.
        self.parts = [_text(LEFT, HEIGHT - 6, f"\u2068{axis}\u2069", SOFT, "start")]
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            y = self.y(share * highest)
            self.parts.append(_segment((LEFT, y), (WIDTH - RIGHT, y), LINE))
            self.parts.append(_text(LEFT - 8, y + 4, show(share * highest), SOFT, "end"))
        for position in self.positions:
            self.parts.append(_text(self.x(position), HEIGHT - BOTTOM + 18, f"{position:g}", SOFT, "middle"))
        self.title = title

    def x(self, position: float) -> float:
        """Where a position lies."""
        step = (WIDTH - LEFT - RIGHT) / len(self.positions)
        return LEFT + step * (self.positions.index(position) + 0.5)

    def y(self, value: float) -> float:
        """Where a value lies."""
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.highest

    def line(self, points: Sequence[Point], colour: str, label: str, place: int) -> None:
        """Points joined by a line, named in the head of the plot."""
        at = [(self.x(x), self.y(y)) for x, y in points]
        self.parts += [_segment(a, b, colour, 2) for a, b in pairwise(at)]
        self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in at]
        self.parts.append(_text(LEFT + 150 * place, 16, f"● {label}", colour, "start"))

    def svg(self) -> str:
        """The whole picture."""
        return _svg(HEIGHT, self.title, self.parts)


def _svg(height: float, title: str, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" direction="ltr" '
        f'font-family="IBM Plex Sans, IBM Plex Sans Arabic, sans-serif" font-size="13">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, colour: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'


def _segment(one: Point, two: Point, colour: str, width: float = 1) -> str:
    (x1, y1), (x2, y2) = one, two
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def _flat_peak(rows: list[dict[str, Any]], said: dict[str, str]) -> str:
    points = [(row["accumulation_steps"], row["peak"]) for row in rows]
    plot = Plot(said["plot.flat_peak"], said["plot.axis_a"], [x for x, _ in points], max(y for _, y in points), _size)
    plot.line(points, COLOURS[0], said["plot.peak"], 0)
    return plot.svg()


def _affine(rows: list[dict[str, Any]], said: dict[str, str]) -> str:
    top = max(row["peak"] for row in rows)
    plot = Plot(said["plot.affine_in_b"], said["plot.axis_b"], range(1, rows[-1]["micro_batch"] + 1), top, _size)
    for place, name in enumerate(("peak", "saved")):
        plot.line([(row["micro_batch"], row[name]) for row in rows], COLOURS[place], said[f"plot.{name}"], place)
    return plot.svg()


def _throughput(rows: list[dict[str, Any]], said: dict[str, str]) -> str:
    one = rows[-1]["median"]
    highest = max(row["high"] for row in rows) / one
    plot = Plot(
        said["plot.throughput"],
        said["plot.axis_b"],
        [row["micro_batch"] for row in rows],
        highest,
        lambda value: f"{value:.1f}",
    )
    for row in rows:
        x = plot.x(row["micro_batch"])
        plot.parts.append(_segment((x, plot.y(row["low"] / one)), (x, plot.y(row["high"] / one)), COLOURS[0], 1.5))
    plot.line([(row["micro_batch"], row["median"] / one) for row in rows], COLOURS[0], said["plot.time"], 0)
    return plot.svg()


def _predicted(rows: list[dict[str, Any]], said: dict[str, str]) -> str:
    top = max(max(row["predicted"], row["peak"]) for row in rows)
    left, height = 170, 44
    parts = [
        _text(left + 130 * i, 16, f"■ {said[f'plot.{n}']}", COLOURS[i], "start")
        for i, n in enumerate(("predicted", "measured"))
    ]
    for place, row in enumerate(rows):
        y = TOP + height * place
        parts.append(_text(left - 8, y + 20, row["name"], INK, "end"))
        for bar, name in enumerate(("predicted", "peak")):
            length = (WIDTH - left - 72) * row[name] / top
            colour, at = COLOURS[bar], y + 4 + 15 * bar
            parts.append(f'<rect x="{left}" y="{at}" width="{length:.1f}" height="12" fill="{colour}"/>')
            parts.append(_text(left + length + 6, at + 11, _size(row[name]), SOFT, "start"))
    return _svg(TOP + height * len(rows), said["plot.predicted_peaks"], parts)


PLOTS: dict[str, Callable[[list[dict[str, Any]], dict[str, str]], str]] = {
    "flat_peak": _flat_peak,
    "affine_in_b": _affine,
    "predicted_peaks": _predicted,
    "throughput": _throughput,
}
