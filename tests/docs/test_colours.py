"""The colours of the pictures: one for each quantity, clear of the page, and apart for eyes that see fewer colours.

Colour-blind sight is simulated with the matrices of Machado, Oliveira and Fernandes (2009), severity 1, on linear sRGB.
Distances are taken in Oklab, times 100: what a normal eye can just tell apart side by side is about 2.
"""

import re
from itertools import combinations, product
from math import dist

import pytest

from paths import DOCS

QUANTITIES = ("activations", "gradients", "weights", "optimizer-states", "temporaries", "capacity")
SCHEMES = ("default", "slate")
CONTRAST, TEXT_CONTRAST, DISTANCE = 3, 4.5, 10
SIGHT = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
TO_CONES = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
TO_OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


def declared(sheet):
    """Every colour that a style sheet gives a name, by scheme; what the light scheme says holds until the dark one differs."""
    found = {scheme: {} for scheme in SCHEMES}
    text = (DOCS / "assets" / "css" / f"{sheet}.css").read_text(encoding="utf-8")
    for scheme, block in re.findall(r'^\[data-md-color-scheme(?:="(\w+)")?\] \{(.*?)\n\}', text, re.MULTILINE | re.DOTALL):
        colours = dict(re.findall(r"--ga-([\w-]+): (#[0-9a-f]{6});", block))
        for one in [scheme] if scheme else SCHEMES:
            found[one] |= colours
    return found


COLOURS, PAGE = declared("calculator"), declared("site")


def linear(colour):
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def contrast(one, other):
    dark, light = sorted(times([(0.2126, 0.7152, 0.0722)], linear(colour))[0] for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def distance(one, other, sight):
    seen = ([min(1, max(0, c)) for c in times(SIGHT[sight], linear(colour))] for colour in (one, other))
    return 100 * dist(*(times(TO_OKLAB, [c ** (1 / 3) for c in times(TO_CONES, colour)]) for colour in seen))


def test_the_measures_know_what_is_known():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert distance("#000000", "#ffffff", "full") == pytest.approx(100, abs=0.01)
    assert distance("#00795c", "#a6366f", "full") > 20
    assert distance("#00795c", "#a6366f", "deuteranopia") < 3


@pytest.mark.parametrize(("scheme", "quantity"), list(product(SCHEMES, QUANTITIES)))
def test_a_quantity_stands_out_from_the_page(scheme, quantity):
    wanted = TEXT_CONTRAST if quantity == "capacity" else CONTRAST  # The capacity's name is written in its colour.
    grounds = [PAGE[scheme][ground] for ground in ("paper", "soft", "raised")]
    assert min(contrast(COLOURS[scheme][quantity], ground) for ground in grounds) >= wanted


@pytest.mark.parametrize(("scheme", "sight"), list(product(SCHEMES, SIGHT)))
def test_quantities_stay_apart(scheme, sight):
    near = {
        (one, other): round(distance(COLOURS[scheme][one], COLOURS[scheme][other], sight), 1)
        for one, other in combinations(QUANTITIES, 2)
    }
    assert {pair: apart for pair, apart in near.items() if apart < DISTANCE} == {}


def test_no_other_place_gives_a_quantity_a_colour():
    sources = [*(DOCS / "assets").rglob("*.css"), *(DOCS / "assets").rglob("*.mjs"), *(DOCS / "theme").rglob("*.html")]
    own = re.compile(r"--ga-(?:" + "|".join(QUANTITIES) + r"):\s*#")
    placed = {source.name: len(own.findall(source.read_text(encoding="utf-8"))) for source in sources}
    assert {name: count for name, count in placed.items() if count} == {"calculator.css": len(QUANTITIES) * len(SCHEMES)}
