"""No link of the merged site is broken, and the check would see one that is."""

import pytest

from check_links import check
from postbuild import configured_base


def test_every_link_leads_somewhere(site):
    report = check(site)
    assert report.broken == []
    assert report.links > 10_000
    assert report.files > 90


PAGES = {
    "missing page": ('<a href="nowhere/">', "is not there"),
    "missing fragment": ('<a href="other/#c">', "has no such element"),
    "missing picture of a set": ('<img srcset="other/a.png 2x">', "is not there"),
    "outside": ('<a href="../../elsewhere/">', "leads out of the site"),
    "page": ('<a href="other/">', ""),
    "fragment": ('<a href="other/#b">', ""),
    "own address": (f'<a href="{configured_base()}en/other/#b">', ""),
    "state of a calculator": ('<a href="other/#micro_batch=4">', ""),
    "another host": ('<a href="https://example.org/">', ""),
    "base": ('<base href="other/"><a href="../other/#b">', ""),
}


@pytest.mark.parametrize("html, fault", PAGES.values(), ids=PAGES)
def test_check_sees(tmp_path, html, fault):
    (tmp_path / "en" / "other").mkdir(parents=True)
    (tmp_path / "en" / "index.html").write_text(html)
    (tmp_path / "en" / "other" / "index.html").write_text('<p id="b">')
    found = check(tmp_path)
    assert [line.rpartition(": ")[2] for line in found.broken] == ([fault] if fault else [])
    assert found.elsewhere == ({"https://example.org/"} if "example.org" in html else set())


def test_check_reads_style_sheets_and_sitemaps(tmp_path):
    (tmp_path / "a.css").write_text("p { background: url('gone.svg') }")
    (tmp_path / "sitemap.xml").write_text(f"<loc>{configured_base()}gone/</loc>")
    assert [line.partition(":")[0] for line in check(tmp_path).broken] == ["a.css", "sitemap.xml"]
