"""From the first keystroke to the live result, by line, on a first visit and on two later ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Page

from measure_site.pages import LINES, SAVING, VISITS
from measure_site.server import Line, Server, content
from paths import shared_assets

PATIENCE = 120_000
KEPT, FORGET = ((Path(__file__).with_name(f"{name}.js")).read_text(encoding="utf-8") for name in ("kept", "forget_memory"))


def measure(browser: Browser, server: Server) -> list[dict[str, Any]]:
    """Milliseconds for each line, on a first visit, with Pyodide's files kept, and with the memory of a start kept too."""
    for path in sorted((shared_assets() / "pyodide").iterdir()):
        content(path, server.address)  # Packing them takes seconds, which are no reader's.
    found: list[dict[str, Any]] = []
    for name, (bits, delay) in LINES.items():
        row = {"line": name, "bits": bits, "delay": delay}
        try:
            found.append({**row, **visits(browser, server, Line(bits, delay))})
        except Error as failure:
            found.append({**row, "failure": failure.message.splitlines()[0]})
        print(found[-1], flush=True)
        server.line = Line()
    return found


def visits(browser: Browser, server: Server, line: Line) -> dict[str, int]:
    """Three visits of one reader, who saves data: nothing has come before the first key."""
    context = browser.new_context(service_workers="block")
    try:
        return {name: visit(context.new_page(), server, line, forget=name == "files") for name in VISITS}
    finally:
        context.close()


def visit(page: Page, server: Server, line: Line, *, forget: bool) -> int:
    """Milliseconds from the first key to the live result; then wait until all is kept, and no longer than that may take."""
    page.add_init_script(SAVING)
    # From this machine's copy, over the slow line like everything else: the CDN is not to be reached here.
    page.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())
    server.line = Line()
    page.goto(f"{server.address}en/")
    page.wait_for_load_state("networkidle")
    if forget:
        page.evaluate(FORGET)
    server.line = line
    begun = time.monotonic()
    page.locator("[name=replicas]").fill("4")
    page.locator(".ga-calculator:is([data-state=ready], [data-state=failed])").wait_for(timeout=PATIENCE)
    spent = round((time.monotonic() - begun) * 1000)
    if page.locator(".ga-calculator[data-state=failed]").count():
        raise Error("Python did not start")
    deadline = time.monotonic() + PATIENCE / 1000
    while page.evaluate(KEPT) != "memory":
        if time.monotonic() > deadline:
            raise Error("Python was not kept")
        page.wait_for_timeout(100)
    page.close()
    return spent
