"""What stands beside the built pages: the one stylesheet, files named by their content, what keeps the site for later."""

import json
import re
from pathlib import Path

import pytest

from fonts import parse_ranges, write_ranges
from paths import shared_assets
from site_files.css import used_rules
from site_files.scripts import without_comments

WORDS = {"here", "also", "made--", "custom", "tabbed-set", "__tabbed_1_1", "__tabbed_1_2"}
LANGUAGES = ("ar", "en")


@pytest.mark.parametrize(
    "css,kept",
    [
        (".here{a:b}", ".here{a:b}"),
        (".never{a:b}", ""),
        (".never,.here,p{a:b}", ".here,p{a:b}"),
        (".here .never:hover{a:b}", ""),
        (".made--whole,.here--whole{a:b}", ".made--whole{a:b}"),
        ("p:not(.never){a:b}", "p:not(.never){a:b}"),
        ("p:is(.never,.here:not(.also)){a:b}", "p:is(.never,.here:not(.also)){a:b}"),
        ("@media print{.never{a:b}.here{a:b}}", "@media print{.here{a:b}}"),
        ("@media print{.never{a:b}}", ""),
        ("@supports (a:b){@media print{.never{a:b}}}.here{c:d}", ".here{c:d}"),
        ("@keyframes turn{from{a:b}to{c:d}}", "@keyframes turn{from{a:b}to{c:d}}"),
        ('@font-face{src:url("a.never{}")}', '@font-face{src:url("a.never{}")}'),
        ('@charset "utf-8";.here{a:b}', '@charset "utf-8";.here{a:b}'),
        ("/* .here{ */.also{a:url(x.never)}", ".also{a:url(x.never)}"),
        ("[data-md-color-primary=custom]{a:b}", "[data-md-color-primary=custom]{a:b}"),
        ("[data-md-color-primary=red]{a:b}", ""),
        ('[href$=".never"]{a:b}', '[href$=".never"]{a:b}'),
        (".here\\:also{a:b}", ".here\\:also{a:b}"),
        (".tabbed-set>input:nth-child(2)~:nth-child(2){a:b}", ".tabbed-set>input:nth-child(2)~:nth-child(2){a:b}"),
        (".tabbed-set>input:nth-child(3)~:nth-child(3),.here{a:b}", ".here{a:b}"),
        ("[data-md-color-switching] *{a:b}", ""),
    ],
)
def test_rules_that_no_page_can_use_are_left_out(css, kept):
    assert used_rules(css, WORDS) == kept


@pytest.mark.parametrize(
    "script,served",
    [
        ("// one\nlet a;\n", "let a;\n"),
        ("let a; // one\n", "let a; // one\n"),
        ("  /** one\n * two\n */\nlet a;\n", "let a;\n"),
        ("/* one */\n/* two */ let a;\n", "/* two */ let a;\n"),
        ('let a = "//host";\n', 'let a = "//host";\n'),
        ("let a = 4 /\n  2;\n", "let a = 4 /\n  2;\n"),
    ],
)
def test_scripts_are_served_without_lines_of_comment(script, served):
    assert without_comments(script) == served


@pytest.mark.parametrize("text,points", [("U+41", {0x41}), ("U+20-22, U+A0", {0x20, 0x21, 0x22, 0xA0})])
def test_ranges_are_written_as_they_are_read(text, points):
    assert parse_ranges(text) == points
    assert parse_ranges(write_ranges(points)) == points


def test_a_page_waits_for_one_stylesheet_and_for_no_script(language_pages):
    for path, page in language_pages.items():
        assert len(page.find_all("link", rel="stylesheet")) == 1, path
        assert [
            s for s in page.head.find_all("script", src=True) if s.get("type") != "module" and not s.has_attr("defer")
        ] == []


def test_shared_files_stand_under_one_name_that_every_page_knows(site, built_pages):
    shared = shared_assets(site)
    assert re.fullmatch(r"ga-[0-9a-f]{8}", shared.name)
    for path, page in built_pages.items():
        assert set(re.findall(r"assets/(ga[\w-]*)/", str(page))) <= {shared.name}, path


@pytest.mark.parametrize("language", LANGUAGES)
def test_manifest_names_icons_that_are_there(site, language):
    manifest = json.loads((site / language / "site.webmanifest").read_text(encoding="utf-8"))
    assert (manifest["lang"], manifest["dir"]) == (language, {"ar": "rtl", "en": "ltr"}[language])
    assert manifest["icons"]
    for icon in manifest["icons"]:
        assert (site / language / icon["src"]).is_file()


def test_worker_keeps_files_that_are_there_and_every_page_with_a_calculator(site, language_pages):
    text = (site / "worker.js").read_text(encoding="utf-8")
    files, pages = (json.loads(re.search(rf"const {name} = (.*);", text)[1]) for name in ("FILES", "PAGES"))
    for address in [*files, *pages["ar"], *pages["en"]]:
        file = site / address
        assert (file / "index.html" if file.is_dir() else file).is_file(), address
    assert not [address for address in files if "pyodide/" in address or "LICENSE" in address]
    for language in LANGUAGES:
        settings = json.loads(language_pages[Path(language) / "index.html"].select_one("#__config").string)
        assert f"{language}/{settings['search']}" in files
    held = {path.parent.as_posix() + "/" for path, page in language_pages.items() if page.select_one(".ga-calculator")}
    assert held == {*pages["ar"], *pages["en"]}
