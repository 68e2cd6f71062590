"""Where Python comes from, when, and what a reader sees when it does not come."""

import re
import shlex
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

from paths import NODE_MODULES

PATIENCE = 15
FILES = {"pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"}
FAST = "Object.defineProperty(navigator, 'connection', {get: () => ({saveData: false, effectiveType: '4g', downlink: 10})})"
SLOW = FAST.replace("4g", "3g")
COPY = "**/assets/ga-*/pyodide/**"


def refuse(route):
    route.abort()


def hang(_route):
    """Neither an answer nor an error: what a network that swallows packets does."""


def tamper(cdn):
    """The loader with one line more; everything else as it should be."""

    def answer(route):
        if not route.request.url.endswith("/pyodide.mjs"):
            return cdn(route)
        body = (NODE_MODULES / "pyodide" / "pyodide.mjs").read_bytes() + b"\nglobalThis.intruder = true;\n"
        headers = {"content-type": "text/javascript", "access-control-allow-origin": "*"}
        return route.fulfill(body=body, headers=headers)

    return answer


def names(urls, part):
    return {url.rsplit("/", 1)[1] for url in urls if part in url}


def test_nothing_of_python_is_fetched_before_a_touch(open_page, calculator_of, language):
    page = open_page(f"{language}/")
    page.wait_for_load_state("networkidle")
    page.mouse.wheel(0, 2000)
    page.wait_for_timeout(500)
    assert page.guard.of_pyodide() == []

    def all_asked(_):
        return names(page.guard.asked, "jsdelivr") >= FILES and names(page.guard.asked, ".whl")

    with page.expect_event("request", all_asked, timeout=60_000):
        calculator_of(page).control("micro_batch").focus()
    assert names(page.guard.asked, "jsdelivr") == FILES
    assert names(page.guard.asked, "/pyodide/") == set()


@pytest.mark.parametrize("line,fetched", [(FAST, True), (SLOW, False)], ids=["fast line", "slow line"])
def test_idle_browser_fetches_python_over_a_fast_line_only(open_page, until, line, fetched):
    page = open_page("en/", line=line)
    if fetched:
        until(page, "document.readyState", lambda _: page.guard.of_pyodide())
        return
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)
    assert page.guard.of_pyodide() == []


def test_page_without_calculator_fetches_nothing(open_page, language):
    page = open_page(f"{language}/learn/memory/", line=FAST)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)
    if page.locator(".ga-calculator").count() == 0:
        assert page.guard.of_pyodide() == []


def test_blocked_cdn_falls_over_to_the_copy_on_the_site(open_page, calculator_of, language):
    page = open_page(f"{language}/", answer_cdn=refuse)
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    assert names(page.guard.asked, "/pyodide/") == FILES
    page.guard.forgive("ERR_FAILED")


def test_silent_cdn_falls_over_too(open_page, calculator_of):
    page = open_page("en/", answer_cdn=hang)
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")


def test_file_with_another_digest_is_not_run(open_page, calculator_of, cdn):
    page = open_page("en/", answer_cdn=tamper(cdn))
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    assert names(page.guard.asked, "/pyodide/") == FILES
    assert not any(worker.evaluate("'intruder' in globalThis") for worker in page.workers)


@pytest.mark.parametrize("language,how", [("ar", refuse), ("en", refuse), ("ar", hang)])
def test_both_blocked_keeps_the_result_says_so_in_time_and_retries(open_page, calculator_of, language, words, cdn, how):
    page = open_page(f"{language}/", answer_cdn=how)
    page.route(COPY, how)
    calculator = calculator_of(page)
    retry = calculator.section.locator("[data-action=retry]")

    def spent(action):
        begun = time.monotonic()
        action()
        expect(retry).to_be_visible(timeout=60_000)
        return time.monotonic() - begun

    # Again only where that took longer, which a busy machine may be to blame for.
    assert any(spent(action) < PATIENCE for action in (lambda: calculator.type("replicas", "4"), retry.click, retry.click))
    expect(calculator.status).to_have_text(words[language]["ui.failed"])
    calculator.shows(effective_batch="32", activation_memory="2 GB")
    expect(calculator.control("replicas")).to_have_value("4")

    command = shlex.split(calculator.section.locator(".ga-command").inner_text())
    answer = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, encoding="utf-8", check=True)
    assert "128" in answer.stdout

    page.unroute(COPY)
    page.context.unroute("https://cdn.jsdelivr.net/**")
    page.context.route("https://cdn.jsdelivr.net/**", cdn)
    retry.click()
    calculator.shows(effective_batch="128")
    expect(retry).to_be_hidden()
    page.guard.forgive("ERR_FAILED")


def test_missing_wheel_is_noticed(open_page, calculator_of):
    page = open_page("en/")
    page.route("**/*.whl", refuse)
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.answered("failed")
    page.unroute("**/*.whl")
    calculator.section.locator("[data-action=retry]").click()
    calculator.shows(effective_batch="128")
    page.guard.forgive("ERR_FAILED")


def test_worker_outlives_instant_navigation(open_page, calculator_of, language):
    page = open_page(f"{language}/")
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    fetched = len(page.guard.of_pyodide())
    page.evaluate("window.survivor = true")
    page.locator(".md-content a[href*='batch-split']").first.click()
    page.wait_for_url("**/calculators/batch-split/")
    other = calculator_of(page)
    expect(other.section).to_have_attribute("data-calculator", "batch_split")
    other.type("effective_batch", "64")
    other.answered()
    assert page.evaluate("window.survivor") is True
    assert len(page.guard.of_pyodide()) == fetched
    page.go_back()
    page.wait_for_url(re.compile("#.*replicas=4"))
    calculator_of(page).shows(effective_batch="128")
    assert len(page.guard.of_pyodide()) == fetched
