"""From a keystroke to the painted result, in a page whose Python has started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from measure_site.pages import LANGUAGES
from measure_site.server import Server

# A calculator, a field of it, and texts to put there: each gives another answer.
CASES = {
    "accumulation": ("", "micro_batch", [str(number) for number in range(2, 32)]),
    "training_memory": ("calculators/training-memory/", "micro_batch", [str(number) for number in range(2, 32)]),
    "plan": ("calculators/planner/", "effective_batch", [str(number) for number in range(64, 94)]),
}
PATIENCE = 120_000
PROBE = (Path(__file__).parent / "keystrokes.js").read_text(encoding="utf-8")


def measure(browser: Browser, server: Server) -> list[dict[str, Any]]:
    """Percentiles for each calculator and language, in milliseconds."""
    return [
        {"language": language, "calculator": name, **times(browser, f"{server.address}{language}/{path}", field, texts)}
        for name, (path, field, texts) in CASES.items()
        for language in LANGUAGES
    ]


def times(browser: Browser, address: str, field: str, texts: list[str]) -> dict[str, Any]:
    """Type the texts one after the other."""
    context = browser.new_context(service_workers="block")
    context.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())
    page = context.new_page()
    page.goto(address)
    control = page.locator(f".ga-calculator [name={field}]")
    control.fill(texts[-1])
    page.locator(".ga-calculator[data-state=ready]").wait_for(timeout=PATIENCE)
    page.evaluate(PROBE, [field, texts[:5]])  # Compiles and draws what only the first answers need.
    rounds = page.evaluate(PROBE, [field, texts])
    context.close()
    in_page, painted = (sorted(round(one[place], 1) for one in rounds) for place in (0, 1))
    return {"rounds": len(rounds), "in_page": percentiles(in_page), "painted": percentiles(painted)}


def percentiles(values: list[float]) -> dict[str, float]:
    """The middle, the 95th of a hundred, the slowest; nearest rank."""
    return {"p50": values[(len(values) - 1) // 2], "p95": values[-(-len(values) * 95 // 100) - 1], "most": values[-1]}
