"""How many bytes the first load of each page takes, all files counted, without Pyodide."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser

from measure_site.pages import KINDS, LANGUAGES, SAVING, every_page
from measure_site.server import Server

PHONE = {"width": 412, "height": 823}
SETTLED = 500
BLOCKING = (
    "performance.getEntriesByType('resource').filter((one) => one.renderBlockingStatus === 'blocking').map(({name}) => name)"
)


def measure(browser: Browser, server: Server) -> dict[str, Any]:
    """The bytes of every page, by kind of file for one page of each kind, and the heaviest page of each language."""
    loads = {page: load(browser, server.address + page) for page in every_page()}
    kinds = [
        {"language": language, "kind": kind, "page": f"{language}/{path}", **loads[f"{language}/{path}"]}
        for kind, path in KINDS.items()
        for language in LANGUAGES
    ]
    heaviest = []
    for language in LANGUAGES:
        page = max((page for page in loads if page.startswith(language)), key=lambda page: int(loads[page]["bytes"]))
        heaviest.append({"language": language, "page": page, **loads[page]})
    return {"pages": len(loads), "kinds": kinds, "heaviest": heaviest}


def load(browser: Browser, address: str) -> dict[str, Any]:
    """Load one page in a browser that has never seen the site."""
    context = browser.new_context(viewport=PHONE, service_workers="block")  # type: ignore[arg-type]
    # What comes is then what the page itself needs.
    context.add_init_script(SAVING)
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    kinds: dict[str, str] = {}
    sizes: dict[str, int] = {}
    devtools.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]}))
    devtools.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: int(event["encodedDataLength"])}))
    devtools.send("Network.enable")
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(SETTLED)
    blocking = page.evaluate(BLOCKING)
    context.close()
    by_kind: dict[str, int] = {}
    for request, size in sizes.items():
        by_kind[kinds.get(request, "Other")] = by_kind.get(kinds.get(request, "Other"), 0) + size
    waited = [name.rsplit("/", 1)[1] for name in blocking]
    return {"bytes": sum(by_kind.values()), "requests": len(sizes), "by_kind": by_kind, "render_blocking": waited}
