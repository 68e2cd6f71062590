"""The icons, and the cards that others show beside a link to a page."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import social_cards
from paths import SITE

ROOT = Path(os.environ.get("GRADACCUM_SITE", SITE))


def size(path):
    """Width and height of a PNG file, which its first chunk says."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


@pytest.mark.parametrize(("name", "side"), [("icon-192", 192), ("icon-512", 512), ("icon-maskable-512", 512)])
def test_icons_have_the_size_that_their_name_says(name, side):
    (icon,) = ROOT.glob(f"assets/*/images/{name}.png")
    assert size(icon) == (side, side)


@pytest.mark.parametrize("language", ["ar", "en"])
def test_every_page_names_a_card_of_its_own(language):
    named = {}
    for page in (ROOT / language).rglob("index.html"):
        (image,) = re.findall(r'property="og:image" content="([^"]+)"', page.read_text(encoding="utf-8"))
        place = ROOT / language / urlsplit(image).path.split(f"/{language}/", 1)[1]
        assert size(place) == (social_cards.WIDTH, social_cards.HEIGHT)
        named[image] = page
    assert len(named) == len(list((ROOT / language).rglob("index.html"))) > 30


def test_cards_are_small():
    sizes = {path.name: path.stat().st_size for path in ROOT.glob("*/cards/*.png")}
    assert {name: size for name, size in sizes.items() if size > 90_000} == {}


@pytest.mark.parametrize(
    ("title", "size", "lines"),
    [
        ("Memory", 72, 1),
        ("What gradient accumulation costs, and what to try before", 72, 2),
        ("word " * 200, 50, 3),
    ],
)
def test_a_long_title_takes_more_lines_and_then_smaller_type(title, size, lines):
    chosen, shown = social_cards.fitted(title)
    assert (chosen, len(shown)) == (size, lines)
    assert shown[-1].endswith("…") == (len(title) > 100)


def test_an_arabic_line_is_isolated_and_stands_at_the_right():
    svg = social_cards.card("ملفّ config.json <b>", "وصف", "تراكم التدرّجات", rtl=True)
    assert "\u2067ملفّ config.json &lt;b&gt;\u2069" in svg
    assert 'text-anchor="start"' not in svg
    assert 'text-anchor="end"' not in social_cards.card("A", "B", "C", rtl=False)


def test_without_the_package_that_draws_the_site_is_built_all_the_same(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(social_cards, "NODE_MODULES", tmp_path)
    monkeypatch.setattr(social_cards, "CACHE", tmp_path / "cards")
    social_cards.provide({tmp_path / "a.png": ("<svg/>", 1)})
    assert "npm ci" in capsys.readouterr().out
    assert not (tmp_path / "a.png").exists()
