"""A browser, the built site under a sub-path, the CDN played by the npm package, and a guard over every page.

The guard fails a test when a page asked any host but this machine and the CDN, wrote an error to the console, or threw.
No service worker runs but in the tests of one: it would answer requests that a test means to answer itself.
"""

import fnmatch
import functools
import json
import os
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error, expect, sync_playwright

from gradaccum.messages import catalogue
from measure_site.pages import SAVING
from paths import NODE_MODULES, SITE
from provide_browser import find_browser

LANGUAGES = ("ar", "en")
AXE = NODE_MODULES / "axe-core" / "axe.min.js"
CDN = "https://cdn.jsdelivr.net/**"
# A name without a port, as on the published site: the theme navigates instantly only where the addresses in sitemap.xml,
# whose host it replaces but not their port, are those of the page. Browsers trust *.localhost like https.
HOST = "gradaccum.localhost"
BASE = "/gradaccum"
# Without these Chromium talks to its maker's hosts at every start.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Nothing is fetched unasked unless a test asks for this line, so a test says itself when Python starts.
FAST = SAVING.replace("true", "false")
# Generous, because Python starts on a machine that may be busy with other tests.
START = 120_000


def wait_until(page, question, satisfied=bool):
    """Ask a page until its answer satisfies, be it the page that follows this one.

    Playwright's own waiting takes a promise itself for true, and is refused by the content security policy on its second try.
    """
    end, answer = time.monotonic() + START / 1000, None
    while time.monotonic() < end:
        try:
            if satisfied(answer := page.evaluate(question)):
                return answer
        except Error as error:
            if "Execution context was destroyed" not in error.message:  # As it is of a page that is being left.
                raise
        page.wait_for_timeout(100)
    raise AssertionError(f"{question}: {answer}")


# Calm for as many frames; what comes from a timer or an observer of the page's own has come by then.
AT_REST = """async () => {
  await document.fonts.ready;
  let calm = 0;
  const end = performance.now() + 30_000;
  const watcher = new MutationObserver(() => { calm = 0; });
  watcher.observe(document, {subtree: true, childList: true, attributes: true});
  const moving = () => document.getAnimations().some((one) => one.playState === 'running' && one.effect.getComputedTiming().endTime !== Infinity);
  while (calm < 4 && performance.now() < end) {
    // A page that is not painted has no frames.
    await new Promise((done) => { setTimeout(done, 2000); requestAnimationFrame(() => setTimeout(done)); });
    calm = moving() ? 0 : calm + 1;
  }
  watcher.disconnect();
}"""
# Forget what was said before, between the reader's hand and the page's own ears: an answer that comes later is to this input.
ASK_ANEW = """(section) => section.addEventListener('input', () => {
  section.dataset.state = 'asked';
  section.querySelector('.ga-status').textContent = '';
}, {capture: true, once: true})"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class _Site(_Quiet):
    def do_GET(self):
        """Fonts come however late here: whether a busy machine had them in time would decide where lines break."""
        if not self.path.endswith("/css/all.css"):
            super().do_GET()
            return
        sheet = Path(self.translate_path(self.path)).read_bytes().replace(b"font-display:optional", b"font-display:swap")
        self.send_response(200)
        self.send_header("content-type", "text/css")
        self.send_header("content-length", str(len(sheet)))
        self.end_headers()
        self.wfile.write(sheet)

    def translate_path(self, path):
        path = urlsplit(path).path
        return super().translate_path(path.removeprefix(BASE) if path.startswith(f"{BASE}/") else "/nowhere")

    def end_headers(self):
        """Send what the site's ``_headers`` asks hosts to send: stricter than a host that cannot, such as GitHub Pages."""
        for pattern, headers in self.rules.items():
            if fnmatch.fnmatchcase(urlsplit(self.path).path.removeprefix(BASE), pattern):
                for name, value in headers:
                    # The CDN is played by this machine.
                    self.send_header(name, value.replace("https://cdn.", "http://127.0.0.1:* https://cdn."))
        super().end_headers()

    @functools.cached_property
    def rules(self):
        return header_rules(Path(self.directory) / "_headers")


def header_rules(file):
    """The rules of a ``_headers`` file: patterns of paths, and the headers of each."""
    rules = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            rules[line] = headers = []
        else:
            headers.append(tuple(part.strip() for part in line.split(":", 1)))
    return rules


class _Cdn(_Quiet):
    def end_headers(self):
        self.send_header("access-control-allow-origin", "*")
        super().end_headers()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Say nothing of a browser that hung up: closing a page in the middle of a download is what some tests do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _serve(handler, folder):
    server = _Server(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture(scope="session")
def port():
    """Where the site is served."""
    site = Path(os.environ.get("GRADACCUM_SITE", SITE))
    if not (site / "index.html").exists():
        pytest.fail("The site is not built; run `make site`.")
    server = _serve(_Site, site)
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def address():
    """The site as the browser sees it: under a sub-path, so that nothing may rely on standing at the root."""
    return f"http://{HOST}{BASE}"


@pytest.fixture(scope="session")
def cdn():
    """Answers a request to the CDN with the file of the npm package.

    A redirect to a server on this machine: several megabytes through the debugging protocol take seconds.
    """
    server = _serve(_Cdn, NODE_MODULES / "pyodide")

    def answer(route):
        place = f"http://127.0.0.1:{server.server_port}/{route.request.url.rsplit('/', 1)[1]}"
        route.fulfill(status=302, headers={"location": place, "access-control-allow-origin": "*"})

    yield answer
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def launch():
    """Starts a browser for which the site stands at a port of this machine."""
    path = find_browser()
    if path is None:
        pytest.fail("There is no Chromium; run `make browser`.")
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        yield lambda port: playwright.chromium.launch(
            executable_path=path, args=[*FLAGS, f"--host-resolver-rules=MAP {HOST}:80 127.0.0.1:{port}"]
        )


@pytest.fixture(scope="session")
def browser(launch, port):
    started = launch(port)
    yield started
    started.close()


class Guard:
    """What a page did that it must not do."""

    def __init__(self, page):
        self.asked = []
        self.faults = []
        self.forgiven = []
        page.on("request", self._request)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"threw {error}"))

    def _request(self, request):
        self.asked.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https") and parts.hostname not in (HOST, "127.0.0.1", "cdn.jsdelivr.net"):
            self.faults.append(f"asked {request.url}")

    def _console(self, message):
        if message.type == "error":
            self.faults.append(f"logged {message.text}")

    def forgive(self, text):
        """A test that blocks requests on purpose expects the browser to say so, be it late."""
        self.forgiven.append(text)

    def of_pyodide(self):
        return [url for url in self.asked if "pyodide." in url or "python_stdlib" in url or url.endswith(".whl")]

    def check(self):
        faults, self.faults = self.faults, []
        assert [fault for fault in faults if not any(text in fault for text in self.forgiven)] == []


@pytest.fixture
def open_page(browser, address, cdn):
    """Open a page in a fresh context; `answer_cdn` replaces what the CDN does, and files like `without` never come."""
    contexts, guards = [], []

    def opened(path, *, answer_cdn=cdn, line=SAVING, without=None, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "service_workers": "block", **options})
        contexts.append(context)
        context.add_init_script(line)
        context.route(CDN, answer_cdn)
        page = context.new_page()
        page.guard = Guard(page)
        guards.append(page.guard)
        if without:
            context.route(without, lambda route: route.abort())
            page.guard.forgive("Failed to load resource")
        page.goto(f"{address}/{path}")
        return page

    yield opened
    for context in contexts:
        context.close()
    for guard in guards:
        guard.check()


class Calculator:
    """The calculator of an open page, in the hands of a reader."""

    def __init__(self, page):
        self.page = page
        self.section = page.locator(".ga-calculator")

    def forget(self):
        """From now on nothing is answered, so that `answered` waits for what comes without an input."""
        self.section.evaluate("(section) => { section.dataset.state = 'asked'; }")

    def ask_anew(self):
        """From the next input on nothing is answered, so that `answered` waits for the answer to it."""
        self.section.evaluate(ASK_ANEW)

    def type(self, field, text):
        self.ask_anew()
        self.control(field).fill(text)

    def choose(self, field, option):
        self.ask_anew()
        self.control(field).select_option(option)

    def answered(self, state="ready"):
        expect(self.section).to_have_attribute("data-state", state, timeout=START)

    def output(self, name):
        return self.section.locator(f"[data-output={name}] .ga-value")

    def shows(self, **outputs):
        for name, text in outputs.items():
            expect(self.output(name)).to_have_text(text, timeout=START)

    def copied(self, button):
        """What a press of a button puts on the clipboard, where something else stood before."""
        before = "what was copied before"
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", before)
        button.click()
        return wait_until(self.page, "navigator.clipboard.readText()", lambda text: text != before)

    def error(self, field):
        return self.section.locator(f"[data-field={field}] .ga-error")

    def control(self, field):
        return self.section.locator(f"[name={field}]")

    @property
    def status(self):
        return self.section.locator(".ga-status")


@pytest.fixture
def memory(kept_pages, language):
    """The calculator of training memory, as `live` is that of the home page."""
    calculator = as_printed(kept_pages(f"{language}/calculators/training-memory/"))
    yield calculator
    calculator.page.guard.check()


@pytest.fixture
def findings():
    """What axe finds on a page."""

    def found_on(page):
        page.evaluate(AT_REST)
        if not page.evaluate("'axe' in window"):
            # Evaluated and not added to the page, whose policy would refuse it.
            page.evaluate(AXE.read_text(encoding="utf-8"))
        # The one rule of WCAG 2.2 AA that axe leaves off unless it is asked for.
        found = page.evaluate("axe.run(document, {resultTypes: ['violations'], rules: {'target-size': {enabled: true}}})")
        return [
            (rule["id"], node["html"][:160], node["failureSummary"]) for rule in found["violations"] for node in rule["nodes"]
        ]

    return found_on


@pytest.fixture
def calculator_of():
    return Calculator


@pytest.fixture(scope="session")
def until():
    return wait_until


@pytest.fixture(scope="session")
def at_rest():
    """Wait until a page changes no more by itself: fonts, motion, and what its scripts do behind a paint."""
    return lambda page: page.evaluate(AT_REST)


@pytest.fixture(scope="session")
def in_scheme():
    """Show a page light or dark, as the reader's device asks for it, once the theme has taken that over."""

    def shown(page, scheme, **media):
        page.emulate_media(color_scheme=scheme, **media)
        page.locator(f"body[data-md-color-scheme={'default' if scheme == 'light' else 'slate'}]").wait_for()

    return shown


@pytest.fixture(scope="session")
def await_files(until):
    """Wait until the browser has kept Pyodide's files."""
    return lambda page: until(
        page,
        "caches.keys().then(async (names) => {"
        " const name = names.find((one) => one.startsWith('gradaccum-pyodide-'));"
        " return name && (await (await caches.open(name)).keys()).length === 4; })",
    )


@pytest.fixture(scope="session")
def kept_pages(browser, address, cdn):
    """Pages in which Python runs, one per path, kept for all tests that only type and look."""
    pages = {}

    def page_of(path):
        if path not in pages:
            context = browser.new_context(viewport={"width": 1280, "height": 900}, service_workers="block")
            context.grant_permissions(["clipboard-read", "clipboard-write"])
            context.add_init_script(SAVING)
            context.route(CDN, cdn)
            page = context.new_page()
            page.guard = Guard(page)
            page.goto(f"{address}/{path}")
            pages[path] = page
        return pages[path]

    yield page_of
    for page in pages.values():
        page.context.close()


@pytest.fixture
def live(kept_pages, language):
    """The home page's calculator, Python running, with the values it was printed with."""
    calculator = as_printed(kept_pages(f"{language}/"))
    yield calculator
    calculator.page.guard.check()


def as_printed(page):
    """The calculator of a kept page with the values it was printed with, and their answer, told at once and in the address."""
    calculator = Calculator(page)
    page.evaluate(
        """() => {
          const form = document.querySelector('.ga-form');
          document.activeElement.blur();
          form.reset();
          for (const folded of form.querySelectorAll('details')) folded.open = false;
          form.requestSubmit();
          document.querySelector('.ga-calculator').dataset.state = 'reset';
          document.querySelector('.ga-status').textContent = '';
        }"""
    )
    calculator.answered()
    return calculator


@pytest.fixture(params=LANGUAGES)
def language(request):
    return request.param


@pytest.fixture(scope="session")
def words():
    """The package's messages by language, which are what a page must say."""
    return {language: catalogue(language) for language in LANGUAGES}


@pytest.fixture
def address_inputs():
    """The inputs that the address of a page holds."""

    def read(page):
        return dict(json.loads(page.evaluate("JSON.stringify([...new URLSearchParams(location.hash.slice(1))])")))

    return read
