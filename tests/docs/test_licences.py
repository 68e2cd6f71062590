"""Everything shipped is on the page of licences, and everything on the page is shipped."""

import json
import re
from importlib import metadata
from pathlib import Path

import pytest

from fonts import FONTS
from page_parts import licences
from page_parts.answers import PageError
from paths import DOCS, NODE_MODULES, VENDOR, shared_assets

# Whose files lie in each folder that comes out of node_modules. A new folder needs its packages here, and so on the page.
VENDORED = {
    "pyodide": ("pyodide",),
    "katex": ("katex",),
    "plot": ("@observablehq/plot", "d3"),
    "fonts": tuple(f"@fontsource/{package}" for package, *_ in FONTS),
}
# Put together here out of files of those packages.
COMPOSED = {Path("fonts/fonts.css"), Path("katex/katex.min.css")}
# The same letters, fewer of them.
PART_OF_FONT = ".core.woff2"
THEME = Path(metadata.distribution("mkdocs-material").locate_file("material/templates/assets"))
LISTED = {part.name.lower(): part for part in licences.parts()}


@pytest.mark.parametrize("file", sorted(path.relative_to(VENDOR) for path in VENDOR.rglob("*") if path.is_file()), ids=str)
def test_each_file_out_of_node_modules_is_of_a_listed_package(file):
    sources = [NODE_MODULES / name for name in VENDORED[file.parts[0]]]
    assert all(str(source.relative_to(NODE_MODULES)) in LISTED for source in sources)
    held = {
        path.read_bytes() for source in sources for path in source.rglob("*") if path.is_file() and path.suffix == file.suffix
    }
    held |= {path.read_bytes() for source in sources for path in source.glob("LICENSE*")}
    whole = VENDOR / file.with_name(file.name.replace(PART_OF_FONT, ".woff2"))
    assert file in COMPOSED or whole.read_bytes() in held


def test_the_theme_s_bundles_hold_what_is_listed(site):
    found = set()
    # The search's worker is shipped without its map: ours stands in front of the theme's.
    for source_map in [*site.glob("*/assets/**/*.map"), *THEME.glob("javascripts/workers/*.map")]:
        names = json.loads(source_map.read_text(encoding="utf-8"))["sources"]
        found |= {match[1] for name in names if (match := re.search(r"node_modules/((?:@[^/]+/)?[^/]+)/", name))}
    assert found == set(licences.IN_THEME)


def test_each_file_below_a_language_s_assets_is_the_theme_s_or_ours(site):
    (theirs,) = (THEME / "javascripts" / "workers").glob("*.js")
    code = theirs.read_text(encoding="utf-8").partition("//# sourceMappingURL")[0].strip()
    for language in ("ar", "en"):
        folder = site / language / "assets"
        files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
        (worker,) = {
            file for file in files if not any((place / file).is_file() for place in (THEME, DOCS / "theme" / "assets"))
        }
        assert worker.parent == Path("javascripts/workers")
        assert code in (folder / worker).read_text(encoding="utf-8")


def test_nothing_else_carries_somebody_s_notice(site):
    """A script or a style of another's begins with a notice, which minifiers keep."""
    shared = shared_assets(site)
    for path in site.rglob("*"):
        place = path.relative_to(site).parts
        ours = place[1:2] != ("assets",) and not any(path.is_relative_to(shared / name) for name in VENDORED)
        if ours and path.suffix in (".js", ".mjs", ".css"):
            assert not re.search(r"/\*!|@license|copyright \(c\)|©", path.read_text(encoding="utf-8"), re.IGNORECASE), path


def test_icons_are_those_of_the_listed_set(language_pages):
    """The project's own drawings have other measures."""
    drawn = {path["d"] for page in language_pages.values() for path in page.select('svg[viewbox="0 0 24 24"] path')}
    icons = Path(metadata.distribution("mkdocs-material").locate_file("material/templates/.icons/material"))
    known = {match for icon in icons.glob("*.svg") for match in re.findall(r' d="([^"]+)"', icon.read_text(encoding="utf-8"))}
    assert drawn
    assert drawn - known == set()


def test_every_licence_has_its_text(site):
    for part in licences.parts():
        assert part.version, part
        if isinstance(part.text, Path):
            assert len((shared_assets(site) / licences.FOLDER.name / part.file).read_text(encoding="utf-8")) > 500, part
        else:
            assert part.text.startswith("https://"), part
    files = [part.file for part in licences.parts()]
    assert len(files) == len(set(files))


def test_an_unknown_group_stops_the_build():
    with pytest.raises(PageError, match="nothing shipped is called 'nothing'"):
        licences.rows("nothing")
