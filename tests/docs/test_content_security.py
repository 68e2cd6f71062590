"""The policy that stands in every page, and the headers for hosts that can send some."""

import re

import pytest

import content_security
import postbuild
from paths import DOCS

PAGE = '<!doctype html><html><head><meta charset="utf-8">{head}</head><body>{body}</body></html>'


def directives(policy):
    return {name: values for name, *values in (part.split() for part in policy.split("; "))}


def test_inline_scripts_and_styles_are_allowed_by_their_digest():
    page = PAGE.format(head="<script>alert(1)</script><style>p{}</style>", body='<script type="module">1 &amp;&lt; 2</script>')
    found = directives(content_security.policy([page]))
    # printf 'alert(1)' | openssl dgst -sha256 -binary | base64
    assert "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='" in found["script-src"]
    assert len(found["script-src"]) == 3
    assert len(found["style-src"]) == 2
    # The text between the tags, references and all, is what a browser digests.
    assert content_security.digest("1 &amp;&lt; 2") in found["script-src"]


def test_data_and_files_need_no_digest():
    body = '<script src="a.js"></script><script type="application/json">{"a": 1}</script><p>style="x" onclick="y"</p>'
    assert directives(content_security.policy([PAGE.format(head="", body=body)]))["script-src"] == ["'self'"]


@pytest.mark.parametrize(
    "body", ['<p style="color:red">', "<p onclick='x()'>", "<a href=' JavaScript:x()'>", '<form action="javascript:x">']
)
def test_what_no_digest_can_allow_stops_the_build(body):
    with pytest.raises(ValueError, match="no policy can allow this by name"):
        content_security.policy([PAGE.format(head="", body=body)])


def test_a_page_without_the_place_for_a_policy_stops_the_build(tmp_path):
    (tmp_path / "index.html").write_text("<html><head></head></html>", encoding="utf-8")
    with pytest.raises(ValueError, match="expected once"):
        content_security.main(tmp_path)


def test_every_page_begins_with_the_one_policy(built_pages):
    policies = set()
    for path, page in built_pages.items():
        charset, policy = page.head.find_all(True)[:2]
        assert charset.get("charset") == "utf-8", path
        assert policy["http-equiv"] == "Content-Security-Policy", path
        policies.add(policy["content"])
    (policy,) = policies
    found = directives(policy)
    assert found["default-src"] == found["object-src"] == ["'none'"]
    sources = {source for values in found.values() for source in values}
    assert {source for source in sources if not source.startswith("'sha256-")} == {"'none'", "'self'", "data:"}
    assert [name for name, values in found.items() if "data:" in values] == ["img-src"]


def test_the_worker_alone_may_ask_the_pinned_cdn(site):
    rules = (site / "_headers").read_text(encoding="utf-8")
    cdn = re.search(r'cdn = "([^"]+)"', (DOCS / "assets" / "js" / "pyodide-release.mjs").read_text(encoding="utf-8"))[1]
    everywhere, worker = re.split(r"^(?=/assets)", rules, flags=re.MULTILINE)
    assert (site / worker.splitlines()[0].removeprefix("/")).name == "worker.mjs"
    assert (site / worker.splitlines()[0].removeprefix("/")).is_file()
    assert re.findall(r"https?://\S+", rules) == [cdn]
    assert "frame-ancestors 'none'" in everywhere


def test_the_development_server_s_script_is_allowed_too():
    page = PAGE.format(head=f'<meta content="{content_security.policy([])}">', body="").encode()
    assert content_security.digest("reload()") in content_security.allowing(page, b"reload()").decode()


def test_sizes_inside_formulas_become_classes_with_the_same_declarations():
    formula = ("x", False)
    html = '<span class="a" style="height:1em;top:-2em;"></span><span style="height:1em;top:-2em;"></span>'
    changed, rules = postbuild.without_styles({formula: html})
    (name,) = re.findall(r"^\.(\S+)\{height:1em!important;top:-2em!important\}$", rules, re.MULTILINE)
    assert changed[formula] == f'<span class="a {name}"></span><span class="{name}"></span>'
