"""The saw-tooth of a dry run: bytes alive over time, as SVG written here, or as PNG drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from gradaccum import figures, units
from gradaccum.messages import text

KINDS = (".svg", ".png")
WIDTH, HEIGHT = 860, 400
LEFT, RIGHT, TOP, BOTTOM = 76, 16, 56, 64
COLOURS = {"forward": "#dcebf7", "backward": "#f6e3d5", "optimizer_step": "#dff0df"}
PAPER, LINE, INK, SOFT, FAINT = "#ffffff", "#1f4e79", "#222222", "#666666", "#999999"
LOOK = 'role="img" direction="ltr" font-family="sans-serif"'
MOST_TICKS = 6
# A size is at least one and less than 1,024 of its unit, so the last of them is always enough.
STEPS = (1, 2, 5, 10, 20, 50, 100, 200)


@dataclass(frozen=True)
class Scale:
    """From events and bytes to places on the picture."""

    events: int
    most: int
    width: int

    def x(self, event: int) -> float:
        """Left to right: time."""
        return LEFT + (self.width - LEFT - RIGHT) * event / max(self.events, 1)

    def y(self, size: int) -> float:
        """Bottom to top: bytes."""
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * size / max(self.most, 1)


def save(path: Path, outputs: dict[str, Any], language: str) -> None:
    """Draw into a file, whose ending says as what. Errors: ``OSError``."""
    if path.suffix.casefold() == ".svg":
        path.write_text(svg(outputs, language), encoding="utf-8")
    else:
        from gradaccum.torch.plot import png  # noqa: PLC0415 - matplotlib need not be installed

        png(path, outputs)


def ticks(most: int) -> list[int]:
    """Round sizes from 0 to ``most`` bytes for an axis: a round number of the unit that ``most`` is read in.

    >>> [figures.format_size(size, "binary") for size in ticks(97 * 2**30)]
    ['0 B', '20 GiB', '40 GiB', '60 GiB', '80 GiB']
    """
    number, unit = figures.size_in_unit(most, "binary")
    step = next(step for step in STEPS if number / step < MOST_TICKS)
    return [count * step * ({"B": 1} | units.BINARY_UNITS)[unit] for count in range(int(number / step) + 1)]


def kind_of(phase: str) -> str:
    """Forward, backward or optimizer step.

    >>> kind_of("later_forward"), kind_of("optimizer_step")
    ('forward', 'optimizer_step')
    """
    return phase if phase in COLOURS else phase.partition("_")[2]


def svg(outputs: dict[str, Any], language: str) -> str:
    """The picture as SVG; time runs left to right in both languages, and on an Arabic page too."""
    title = text("picture.dry_run.title", language, peak=figures.format_size(outputs["peak"], "binary"))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {LOOK}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        _words((WIDTH / 2, 24), title, language, "font-size=16"),
        *saw_tooth(outputs),
        *_legend(language),
        _words((WIDTH / 2, HEIGHT - 12), text("picture.dry_run.time", language), language, f"fill={SOFT}"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def saw_tooth(outputs: dict[str, Any], width: int = WIDTH) -> list[str]:
    """The picture without its words, from ``TOP`` to ``HEIGHT - BOTTOM``: bands of phases, axis of sizes, what is alive."""
    timeline = outputs["timeline"]
    scale = Scale(timeline["phases"][-1]["to"], max(size for _, size in timeline["points"]), width)
    return [*_bands(timeline["phases"], scale), *_axis(scale), _line(timeline["points"], scale)]


def _words(place: tuple[float, float], words: str, language: str, style: str = "") -> str:
    x, y = place
    direction = ' direction="rtl"' if language == "ar" else ""
    look = {"font-size": "13", "fill": INK, "text-anchor": "middle"} | dict(pair.split("=") for pair in style.split())
    attributes = " ".join(f'{name}="{value}"' for name, value in look.items())
    return f'<text x="{x:g}" y="{y:g}" {attributes}{direction}>{escape(words)}</text>'


def _bands(phases: Sequence[dict[str, Any]], scale: Scale) -> Iterator[str]:
    for phase in phases:
        left, right = scale.x(phase["from"]), scale.x(phase["to"])
        colour = COLOURS[kind_of(phase["phase"])]
        place = f'x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{HEIGHT - TOP - BOTTOM}"'
        yield f'<rect {place} fill="{colour}"/>'


def _axis(scale: Scale) -> Iterator[str]:
    for size in ticks(scale.most):
        y = scale.y(size)
        yield f'<line x1="{LEFT}" x2="{scale.width - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{FAINT}" stroke-width="0.5"/>'
        yield _words((LEFT - 8, round(y + 4, 1)), figures.format_size(size, "binary"), "en", "text-anchor=end")


def _line(points: Sequence[Sequence[int]], scale: Scale) -> str:
    places = " ".join(f"{scale.x(event):.1f},{scale.y(size):.1f}" for event, size in points)
    return f'<polyline fill="none" stroke="{LINE}" stroke-width="1.5" points="{places}"/>'


def _legend(language: str) -> Iterator[str]:
    room = (WIDTH - LEFT - RIGHT) / len(COLOURS)
    for number, (kind, colour) in enumerate(COLOURS.items()):
        x = LEFT + room * number + room / 2
        place = f'x="{x - 80:g}" y="{HEIGHT - 48}" width="12" height="12"'
        yield f'<rect {place} fill="{colour}" stroke="{FAINT}" stroke-width="0.5"/>'
        # The square stands left of its words in both languages.
        yield _words((x + 8, HEIGHT - 38), text(f"picture.dry_run.{kind}", language), language)
