"""The steps after the build, each on a page small enough to read."""

import pytest

import postbuild

PAGE = (
    '<!doctype html><html lang="{lang}" class="no-js"><head><meta charset="utf-8"></head><body>'
    '<div class="md-search" data-md-component="search" role="dialog"></div>{body}</body></html>'
)


def finished(body, language="ar"):
    page = PAGE.format(lang=language, body=body)
    return postbuild.finish_page(page, language, postbuild.render_formulas([page]))


@pytest.mark.parametrize("language, direction", [("ar", "rtl"), ("en", "ltr")])
def test_direction_stands_on_html(language, direction):
    assert f'<html lang="{language}" dir="{direction}" class="no-js">' in finished("", language)


def test_a_theme_that_changed_is_noticed():
    with pytest.raises(ValueError, match="expected once, found 0 times"):
        postbuild.finish_page('<html lang="ar">', "ar", {})


FORMULAS = {
    "in a line": (r'<span class="arithmatex">\(E = b \cdot a\)</span>', "E = b \\cdot a", False),
    "displayed": ('<div class="arithmatex">\\[\nM = b\n\\]</div>', "M = b", True),
    "of a worked example": (r'<div class="arithmatex arithmatex-live">\[g &lt; 2\]</div>', "g &lt; 2", True),
}


@pytest.mark.parametrize("html, tex, display", FORMULAS.values(), ids=FORMULAS)
def test_formula_is_rendered_for_eye_and_ear(html, tex, display):
    page = finished(html)
    assert f'<annotation encoding="application/x-tex">{tex}</annotation>' in page
    assert ('display="block"' in page) == display
    assert 'class="katex-html" aria-hidden="true"' in page
    assert r"\(" not in page


def test_a_formula_that_katex_refuses_stops_the_build():
    with pytest.raises(RuntimeError, match="frac"):
        finished(r'<span class="arithmatex">\(\frac{1}\)</span>')


def test_empty_table_head_is_a_cell_and_a_symbol_has_text():
    page = finished(r'<table><tr><th></th><th><span class="arithmatex">\(b\)</span></th></tr></table>')
    assert "<td></td>" in page
    assert (
        '<th scope="col"><span class="ga-unseen">b</span><span aria-hidden="true"><span class="arithmatex"><span class="katex">'
        in page
    )


def test_rows_below_an_empty_corner_have_names():
    rows = "<tr>\n<td>LoRA</td>\n<td>1</td>\n</tr>"
    page = finished(f"<table>\n<thead>\n<tr>\n<th></th>\n<th>GPU</th>\n</tr>\n</thead><tbody>{rows}</tbody></table>")
    assert '<tr>\n<th scope="row">LoRA</th>\n<td>1</td>\n</tr>' in page
    assert rows in finished(f"<table><thead><tr><th>method</th><th>GPU</th></tr></thead><tbody>{rows}</tbody></table>")


def test_a_cell_with_much_to_say_asks_for_room():
    page = finished(
        f"<table><tr><td>{'word ' * 9}</td><td>{'word ' * 10}</td><td><a href='x'>{'word ' * 20}</a></td></tr></table>"
    )
    assert page.count("<td>") == page.count('<td class="ga-long">') == page.count('<td class="ga-longest">') == 1


def test_a_term_with_a_hyphen_stays_whole():
    page = finished('<bdi lang="en">micro-batch</bdi> <bdi lang="en">backward pass</bdi>')
    assert '<bdi lang="en" class="ga-whole">micro-batch</bdi> <bdi lang="en">backward pass</bdi>' in page


SEAMED = {
    "optimizer.zero_grad(set_to_none=False)": "optimizer.|zero_|grad(|set_|to_|none=|False)",
    "set_gradient_accumulation_boundary(True)": "set_|gradient_|accumulation_|boundary(|True)",
    "some.models/mixtral-8x22b-instruct-v0.1": "some.|models/|mixtral-8x22b-instruct-v0.1",
}


@pytest.mark.parametrize("name, seamed", SEAMED.items())
def test_a_long_name_says_where_it_may_be_broken(name, seamed):
    assert f'<code class="ga-name">{seamed.replace("|", "<wbr>")}</code>' in finished(f"<code>{name}</code>")


def test_only_long_names_in_a_line_of_text_have_seams():
    command = "python scripts/benchmark.py --break summed_losses"
    block = f"<pre><span></span><code>{'a.b' * 20}</code></pre>"
    page = finished(f"<code>loss.backward()</code> <code>gradient_accumulation_steps</code> <code>{command}</code>{block}")
    assert '<code class="ga-whole">loss.backward()</code>' in page
    assert f'<code>gradient_accumulation_steps</code> <code class="ga-words">{command}</code>' in page
    assert block in page


def test_no_browser_is_told_to_fetch_the_next_page():
    page = finished('<link rel="prev" href="../a/">\n<link rel="next" href="../b/">\n<link rel="icon" href="c.svg">')
    assert "c.svg" in page
    assert "../a/" not in page
    assert "../b/" not in page


def test_404_page_follows_the_folder_it_is_served_from():
    base = "/gradaccum/ar/"
    written = (
        '<html><head><meta charset="utf-8"><link rel="stylesheet" href="/gradaccum/ar/assets/x.css">'
        f'<script>__md_scope=new URL("{base}",location)</script></head><body><a href="{base}learn/">'
        f'<script id="__config">{{"base": "{base}", "search": "{base}assets/s.js"}}</script>'
        f'<script defer src="{base}assets/javascripts/bundle.js"></script></body></html>'
    )
    page = postbuild.free_of_base(written, "ar", "/elsewhere/")
    assert "/gradaccum/" not in page
    assert '<base href="/elsewhere/ar/">' in page
    assert all(part in page for part in ('href="assets/x.css"', 'href="learn/"', '"search": "assets/s.js"'))


def test_sitemap_entry_names_both_versions():
    entry = postbuild.sitemap_entry("https://host/", "ar", "learn/memory/")
    assert "<loc>https://host/ar/learn/memory/</loc>" in entry
    assert 'hreflang="en" href="https://host/en/learn/memory/"' in entry
    assert 'hreflang="ar" href="https://host/ar/learn/memory/"' in entry


def test_configured_address_ends_before_the_language():
    assert postbuild.configured_base().endswith("/gradaccum/")
