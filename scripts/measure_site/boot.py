"""From the first keystroke to the live result, by line, on a first and on a second visit."""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import Browser

from measure_site.server import Line, Server, content
from paths import shared_assets

# Bits a second and milliseconds of delay, as browsers' own tools name such lines.
LINES = {
    "slow_4g": (1_600_000, 150),
    "fast_4g": (9_000_000, 60),
    "cable": (50_000_000, 10),
    "unthrottled": (0, 0),
}
PATIENCE = 180_000
SAVING = "Object.defineProperty(navigator, 'connection', {get: () => ({saveData: true, effectiveType: '4g', downlink: 10})})"
KEPT = """caches.keys().then(async (names) => {
  const name = names.find((one) => one.startsWith('gradaccum-pyodide-'));
  return Boolean(name) && (await (await caches.open(name)).keys()).length === 4;
})"""


def measure(browser: Browser, server: Server) -> list[dict[str, Any]]:
    """Milliseconds for each line, on a first visit and on a second one."""
    for path in sorted((shared_assets() / "pyodide").iterdir()):
        content(path, server.address)  # Packing them takes seconds, which are no reader's.
    found = []
    for name, (bits, delay) in LINES.items():
        found.append({"line": name, "bits": bits, "delay": delay, **both(browser, server, Line(bits, delay))})
        server.line = Line()
    return found


def both(browser: Browser, server: Server, line: Line) -> dict[str, int]:
    """The first and the second visit of one reader, who saves data: nothing has come before the first key."""
    context = browser.new_context(service_workers="block")
    context.add_init_script(SAVING)
    # From this machine's copy, over the slow line like everything else: the CDN is not to be reached here.
    context.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())
    spent = []
    for _ in range(2):
        server.line = Line()
        page = context.new_page()
        page.goto(f"{server.address}en/")
        page.wait_for_load_state("networkidle")
        server.line = line
        begun = time.monotonic()
        page.locator("[name=replicas]").fill("4")
        page.locator(".ga-calculator[data-state=ready]").wait_for(timeout=PATIENCE)
        spent.append(round((time.monotonic() - begun) * 1000))
        while not page.evaluate(KEPT):
            page.wait_for_timeout(100)
        page.close()
    context.close()
    return {"first": spent[0], "second": spent[1]}
