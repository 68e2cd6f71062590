"""The scripts that compare one build with another: what they must notice, and what they must not."""

import pytest

import directions
import note_links
import reproduce
import upgrade_drill


@pytest.fixture
def sites(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for site in (one, other):
        site.mkdir()
        (site / "same.html").write_text("<p>1</p>", encoding="utf-8")
    return one, other


def test_two_equal_builds_have_no_differences(sites):
    assert reproduce.differences(*sites) == []


def test_a_differing_and_a_lonely_file_are_named(sites):
    one, other = sites
    (other / "same.html").write_text("<p>2</p>", encoding="utf-8")
    (one / "lonely.txt").touch()
    assert reproduce.differences(one, other) == [
        "lonely.txt: in one build only",
        "same.html: from byte 3: b'1</p>' and b'2</p>'",
    ]


def test_a_longer_file_differs_where_the_shorter_ends():
    assert reproduce.first_difference(b"ab", b"abc") == "from byte 2: b'' and b'c'"


PAGE = '<nav><a href="x">menu</a></nav><article><h2 id="a">Title</h2><p>E = 8 <a href="y">on</a></p></article>'


def test_the_drill_sees_headings_links_and_figures_of_the_text_alone():
    found = upgrade_drill.facts(PAGE)
    assert found.headings == {"h2#a": 1}
    assert found.links == {"y": 1}
    assert found.words == {"Title": 1, "E": 1, "=": 1, "8": 1, "on": 1}
    assert upgrade_drill.facts(PAGE.replace("menu", "another")) == found
    # What the steps after MkDocs write into the pinned pages is no difference.
    finished = PAGE.replace("<p>", '<span class="ga-unseen">b</span><p>').replace('"y"', '"../assets/ga-0123abcd/y"')
    assert upgrade_drill.facts(finished) == upgrade_drill.facts(PAGE.replace('"y"', '"../assets/ga/y"'))
    noted = note_links.link_notes('<article><p data-note="no_accumulation">Alone</p></article>', "en", 2)
    assert "href" in noted
    assert upgrade_drill.facts(noted).links == {}
    code = '<article><pre><span class="c1"># عيّنة (b)</span></pre></article>'
    assert upgrade_drill.facts(directions.with_whole_words(code)) == upgrade_drill.facts(code)
    assert directions.with_whole_words(code) != code


@pytest.mark.parametrize(
    "old, new, said", [('id="a"', 'id="b"', "-'h2#a' +'h2#b'"), ("8", "9", "-'8' +'9'")], ids=["anchor", "figure"]
)
def test_the_drill_says_what_changed(tmp_path, monkeypatch, old, new, said):
    pinned, other = tmp_path / "pinned", tmp_path / "other"
    for site, text in ((pinned, PAGE), (other, PAGE.replace(old, new))):
        for language in upgrade_drill.LANGUAGES:
            (site / language).mkdir(parents=True)
            (site / language / "index.html").write_text(text, encoding="utf-8")
    monkeypatch.setattr(upgrade_drill, "SITE", pinned)
    assert upgrade_drill.compared(pinned) == []
    (first, _) = upgrade_drill.compared(other)
    assert first.endswith(f"on 1 of 1 pages; first index.html: {said}")
