"""What a reader sees when networks, hosts, memory and storage fail in ways other than plain refusal (test_loading has that)."""

import functools
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from paths import NODE_MODULES, shared_assets

WASM = "pyodide.asm.wasm"
PIECES = 12
# Longer in all than the silence after which a download counts as dead, shorter between two pieces.
PAUSE = 0.5


class _BrokenCdn(SimpleHTTPRequestHandler):
    """The folder of an address says what goes wrong with the file."""

    def do_GET(self):
        how, name = urlsplit(self.path).path.strip("/").split("/")
        body = (NODE_MODULES / "pyodide" / name).read_bytes()
        kind = "text/plain" if how == "wrong-type" else "application/octet-stream"
        if how == "html":
            body, kind = b"<!doctype html><title>Sign in to this network</title>", "text/html"
        if how == "other-bytes" and name == WASM:
            body = body[:-1] + bytes([body[-1] ^ 1])
        self.send_response(200)
        self.send_header("access-control-allow-origin", "*")
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if name != WASM:
            self.wfile.write(body)
            return
        step = len(body) // PIECES + 1
        for number, start in enumerate(range(0, len(body), step)):
            if how == "cut" and number == PIECES // 2:
                return
            time.sleep(PAUSE if how == "slow" else 0)
            self.wfile.write(body[start : start + step])

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def broken():
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_BrokenCdn, directory=str(NODE_MODULES)))
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def cdn(how):
        def answer(route):
            place = f"http://127.0.0.1:{server.server_port}/{how}/{route.request.url.rsplit('/', 1)[1]}"
            route.fulfill(status=302, headers={"location": place, "access-control-allow-origin": "*"})

        return answer

    yield cdn
    server.shutdown()
    server.server_close()


def from_the_site(page):
    return [url for url in page.guard.asked if "jsdelivr" not in url and "127.0.0.1" not in url and url.endswith(WASM)]


@pytest.mark.parametrize("language, how", [("ar", "slow"), ("en", "wrong-type")])
def test_what_comes_slowly_or_under_another_type_is_taken(open_page, calculator_of, broken, language, how):
    page = open_page(f"{language}/", answer_cdn=broken(how))
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    assert from_the_site(page) == []


@pytest.mark.parametrize("language, how", [("ar", "cut"), ("en", "html"), ("ar", "other-bytes")])
def test_what_is_cut_or_is_something_else_comes_from_the_site(open_page, calculator_of, broken, language, how):
    page = open_page(f"{language}/", answer_cdn=broken(how))
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    assert len(from_the_site(page)) == 1
    page.guard.forgive("ERR_CONTENT_LENGTH_MISMATCH")


def sign_in(route):
    """What a network says to every address until the reader has signed in."""
    route.fulfill(body="<!doctype html><title>Sign in to this network</title>", content_type="text/html")


def said_and_kept(calculator, words, saying):
    """The failure is told in the page's language, with a way on; the result and what was typed are still there."""
    calculator.answered("failed")
    expect(calculator.status).to_have_text(words[f"ui.{saying}"])
    expect(calculator.section.locator("[data-action=retry]")).to_be_visible()
    expect(calculator.section.locator(".ga-command")).to_contain_text("gradaccum accumulation")


def retried(calculator):
    calculator.section.locator("[data-action=retry]").click()


@pytest.mark.parametrize("language, blocked", [("ar", "**/pyodide.asm.*"), ("en", "**/worker.mjs"), ("ar", "**/lock.json")])
def test_a_network_that_answers_with_its_own_page(open_page, calculator_of, language, words, cdn, blocked):
    page = open_page(f"{language}/", answer_cdn=sign_in if "pyodide" in blocked else cdn)
    page.route(blocked, sign_in)
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    said_and_kept(calculator, words[language], "failed")
    calculator.shows(effective_batch="32")
    page.unroute(blocked)
    page.context.unroute("https://cdn.jsdelivr.net/**")
    page.context.route("https://cdn.jsdelivr.net/**", cdn)
    retried(calculator)
    calculator.shows(effective_batch="128")
    expect(calculator.control("replicas")).to_have_value("4")
    page.guard.forgive("MIME type")


def python_of(page):
    """The worker that runs now; the theme has one for its search."""
    return [worker for worker in page.workers if worker.url.endswith("/js/worker.mjs")][-1]


def test_python_that_is_killed_starts_again(open_page, calculator_of, language, words):
    """Without a word, as systems do that need the memory. The page's clock runs on to the end of its patience."""
    page = open_page(f"{language}/")
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    python_of(page).evaluate("self.close()")
    page.clock.install()
    calculator.type("replicas", "5")
    page.clock.fast_forward(1000)
    page.clock.fast_forward(30_000)
    page.clock.resume()
    said_and_kept(calculator, words[language], "stopped")
    calculator.shows(effective_batch="128")
    retried(calculator)
    calculator.shows(effective_batch="160")
    expect(calculator.control("replicas")).to_have_value("5")


def test_python_without_memory_starts_again(open_page, calculator_of, words):
    page = open_page("ar/")
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    python_of(page).evaluate("() => { WebAssembly.Memory.prototype.grow = () => { throw new RangeError('no memory') } }")
    calculator.control("replicas").evaluate("control => { control.value = '7'.repeat(10_000_000) }")
    page.evaluate("document.querySelector('.ga-form').requestSubmit()")
    said_and_kept(calculator, words["ar"], "stopped")
    calculator.shows(effective_batch="128")
    # Broken Python would break again; this is another.
    calculator.type("replicas", "6")
    calculator.shows(effective_batch="192")


REFUSING = """for (const name of ['localStorage', 'sessionStorage', 'caches', 'indexedDB'])
    Object.defineProperty(globalThis, name, {configurable: true, get() { throw new DOMException('not allowed', 'SecurityError') }})"""
FULL = """if (globalThis.Storage) Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') };
    Cache.prototype.put = async () => { throw new DOMException('full', 'QuotaExceededError') }"""


def in_worker(route, storage):
    module = (shared_assets() / "js" / "kept.mjs").read_text(encoding="utf-8")
    route.fulfill(body=f"{storage};\n{module}", content_type="text/javascript")


@pytest.mark.parametrize("language, storage", [("ar", REFUSING), ("en", FULL)], ids=["forbidden", "full"])
def test_a_browser_that_keeps_nothing(open_page, calculator_of, language, storage):
    page = open_page(f"{language}/")
    page.context.add_init_script(storage)
    # No such script reaches a worker: there the module that keeps Python's files brings it along.
    page.context.route("**/js/kept.mjs", lambda route: in_worker(route, storage))
    page.reload()
    page.locator(".md-header label[for^=__palette]:visible").first.click()
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    page.evaluate("window.survivor = true")
    page.locator("footer a.md-footer__link--next").click()
    expect(page.locator(".ga-calculator, article h1").first).to_be_visible()
    page.locator("label[for=__search]:visible, input.md-search__input").first.click()
    page.locator("input.md-search__input").press_sequentially("LoRA")
    expect(page.locator(".md-search-result__item").first).to_be_attached()
    assert page.evaluate("window.survivor") is True
