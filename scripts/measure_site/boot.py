"""From the first keystroke to the live result, by line, on a first and on a second visit."""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import Browser, Error, Page

from measure_site.pages import LINES, SAVING
from measure_site.server import Line, Server, content
from paths import shared_assets

PATIENCE = 120_000
KEPT = """caches.keys().then(async (names) => {
  const name = names.find((one) => one.startsWith('gradaccum-pyodide-'));
  return Boolean(name) && (await (await caches.open(name)).keys()).length === 4;
})"""


def measure(browser: Browser, server: Server) -> list[dict[str, Any]]:
    """Milliseconds for each line, on a first visit and on a second one."""
    for path in sorted((shared_assets() / "pyodide").iterdir()):
        content(path, server.address)  # Packing them takes seconds, which are no reader's.
    found: list[dict[str, Any]] = []
    for name, (bits, delay) in LINES.items():
        row = {"line": name, "bits": bits, "delay": delay}
        try:
            found.append({**row, **both(browser, server, Line(bits, delay))})
        except Error as failure:
            found.append({**row, "failure": failure.message.splitlines()[0]})
        print(found[-1], flush=True)
        server.line = Line()
    return found


def both(browser: Browser, server: Server, line: Line) -> dict[str, int]:
    """The first and the second visit of one reader, who saves data: nothing has come before the first key."""
    context = browser.new_context(service_workers="block")
    try:
        first, second = (visit(context.new_page(), server, line) for _ in range(2))
    finally:
        context.close()
    return {"first": first, "second": second}


def visit(page: Page, server: Server, line: Line) -> int:
    """Milliseconds from the first key to the live result; then wait until Python is kept, and no longer than it may take."""
    page.add_init_script(SAVING)
    # From this machine's copy, over the slow line like everything else: the CDN is not to be reached here.
    page.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())
    server.line = Line()
    page.goto(f"{server.address}en/")
    page.wait_for_load_state("networkidle")
    server.line = line
    begun = time.monotonic()
    page.locator("[name=replicas]").fill("4")
    page.locator(".ga-calculator:is([data-state=ready], [data-state=failed])").wait_for(timeout=PATIENCE)
    spent = round((time.monotonic() - begun) * 1000)
    if page.locator(".ga-calculator[data-state=failed]").count():
        raise Error("Python did not start")
    deadline = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(KEPT):
        if time.monotonic() > deadline:
            raise Error("Python was not kept")
        page.wait_for_timeout(100)
    page.close()
    return spent
