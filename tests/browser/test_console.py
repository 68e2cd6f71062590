"""No page writes to the console, asks another host, or throws, in either language."""

import pytest

from paths import SITE

PAGES = sorted(path.parent.relative_to(SITE).as_posix() for path in SITE.glob("*/**/index.html"))


@pytest.mark.parametrize("language", ["ar", "en"])
def test_no_page_says_anything_to_the_console(browser, address, cdn, language):
    """One context for all: what a page leaves behind, the next one finds, as with a reader."""
    context = browser.new_context()
    context.route("https://cdn.jsdelivr.net/**", cdn)
    page = context.new_page()
    said = []
    page.on("console", lambda message: said.append(f"{page.url}: {message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"{page.url}: threw {error}"))
    visited = [path for path in PAGES if path.split("/")[0] == language]
    for path in visited:
        page.goto(f"{address}/{path}/", wait_until="load")
        page.wait_for_timeout(50)
    context.close()
    assert len(visited) > 40
    assert said == []
