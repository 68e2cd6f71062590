"""From a key to the painted result, in a page whose Python has started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from measure_site.pages import LANGUAGES
from measure_site.server import Server

# A calculator and a field of it. Each round strikes the last key of a number of two digits that was not asked for before.
CASES = {
    "accumulation": ("", "micro_batch"),
    "training_memory": ("calculators/training-memory/", "micro_batch"),
    "plan": ("calculators/planner/", "effective_batch"),
}
NUMBERS = [number for number in range(11, 50) if number % 10]
PATIENCE = 120_000
# A reader's fingers; what an answer leaves to be drawn behind it is done by then.
BETWEEN_KEYS = 250
PARTS = ("python", "in_page", "painted")
PROBE = (Path(__file__).parent / "keystrokes.js").read_text(encoding="utf-8")


def measure(browser: Browser, server: Server) -> list[dict[str, Any]]:
    """Percentiles for each calculator and language, in milliseconds."""
    return [
        {"language": language, "calculator": name, **times(browser, f"{server.address}{language}/{path}", field)}
        for name, (path, field) in CASES.items()
        for language in LANGUAGES
    ]


def times(browser: Browser, address: str, field: str) -> dict[str, Any]:
    """Strike the keys one after the other."""
    context = browser.new_context(service_workers="block")
    context.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())
    context.add_init_script(PROBE)
    page = context.new_page()
    page.goto(address)
    page.locator(f".ga-calculator [name={field}]").fill("50")
    page.locator(".ga-calculator[data-state=ready]").wait_for(timeout=PATIENCE)
    for number in range(51, 56):  # What only the first answers need is compiled and drawn.
        strike(page, field, number)
    rounds = [strike(page, field, number) for number in NUMBERS]
    context.close()
    found = {part: percentiles(sorted(round(one[part], 1) for one in rounds)) for part in PARTS}
    return {"rounds": len(rounds), **found}


def strike(page: Page, field: str, number: int) -> dict[str, float]:
    """The times of the key that ends the number."""
    first, last = (str(digit) for digit in divmod(number, 10))
    control = page.locator(f".ga-calculator [name={field}]")
    control.evaluate("(control, text) => { control.value = text; control.focus(); nextKey(); }", first)
    page.wait_for_timeout(BETWEEN_KEYS)  # What putting the first digit there leaves to be painted is no part of the key.
    page.keyboard.press(last)
    found: dict[str, float] = page.evaluate("thisKey")
    return found


def percentiles(values: list[float]) -> dict[str, float]:
    """The middle, the 95th of a hundred, the slowest; nearest rank."""
    return {"p50": values[(len(values) - 1) // 2], "p95": values[-(-len(values) * 95 // 100) - 1], "most": values[-1]}
