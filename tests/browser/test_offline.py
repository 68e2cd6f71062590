"""The site without a network, and what happens to an open page when the site changes."""

import functools
import os
import re
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from paths import SITE, shared_assets

BASE = "/gradaccum"
PATIENCE = 60
# How long the worker lets the network take, in milliseconds; long, so that a busy machine is not taken for a silent network.
# As many characters as in the worker, for the header that tells its length has been sent when it is put in.
LONG, SHORT = b" 9e5", b" 500"
CDN = "https://cdn.jsdelivr.net/**"
LINE = "Object.defineProperty(navigator, 'connection', {get: () => ({saveData: %s, effectiveType: '4g', downlink: 10})})"
FAST, SAVING = LINE % "false", LINE % "true"
# Good enough for keeping the site, and not for starting Python unasked.
PLAIN = FAST.replace("4g", "3g")
REGISTRATION = f"navigator.serviceWorker.getRegistration('{BASE}/')"
NAMES_OF_KEPT = """async () => {
  const names = await caches.keys();
  const of = async (name) => (await (await caches.open(name)).keys()).map(({url}) => url);
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await of(name)])));
}"""
FOLLOW = "(href) => document.body.appendChild(Object.assign(document.createElement('a'), {href})).click()"


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def translate_path(self, path):
        return super().translate_path(urlsplit(path).path.removeprefix(BASE))

    def do_GET(self):
        host = self.server.host
        if host.failing and re.search(host.failing, self.path):
            self.send_error(503)
        elif host.down:
            self.close_connection = True
        else:
            if host.silent and re.search(host.silent, self.path):
                host.goes_on.wait(PATIENCE)
            self.directory = str(host.folder)
            super().do_GET()

    def copyfile(self, source, outputfile):
        text = source.read()
        if self.path.endswith("/worker.js"):
            text = re.sub(rb"(?<=PATIENCE = )\d{4}(?=;)", self.server.host.patience, text)
        outputfile.write(text)


class Host:
    """A server whose site can be exchanged, that can fail, and that can fall silent."""

    def __init__(self, folder):
        self.goes_on = threading.Event()
        self.answer_from(folder)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder)))
        self.server.handle_error = lambda *_: None
        self.server.host = self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer_from(self, folder):
        """Be a host without a fault that serves this folder."""
        self.folder, self.down, self.failing, self.silent, self.patience = folder, False, "", "", LONG
        self.goes_on.clear()


@pytest.fixture(scope="module")
def site():
    return Path(os.environ.get("GRADACCUM_SITE", SITE)).resolve()


@pytest.fixture(scope="module")
def next_site(site, tmp_path_factory):
    """The same site as another build would name it: other digests, and a word more in every title."""
    shared = shared_assets(site)
    folder = tmp_path_factory.mktemp("next") / "site"
    shutil.copytree(site, folder, copy_function=os.link)
    (folder / "assets" / shared.name).rename(folder / "assets" / "ga-00000000")
    for path in [folder / "worker.js", *folder.rglob("*.html")]:
        text = path.read_text(encoding="utf-8").replace(shared.name, "ga-00000000").replace("</title>", " 2</title>")
        path.unlink()
        path.write_text(re.sub(r'VERSION = "\w+"', 'VERSION = "00000000"', text), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def host(site):
    made = Host(site)
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def own_browser(launch, host):
    started = launch(host.server.server_port)
    yield started
    started.close()


@pytest.fixture
def visit(own_browser, host, site, address):
    """Open a page of the site as it is now, with service workers, in one context for the whole test."""
    host.answer_from(site)
    contexts = {}

    def opened(path, line=FAST):
        if line not in contexts:
            contexts[line] = own_browser.new_context(service_workers="allow")
            contexts[line].add_init_script(line)
            contexts[line].route(CDN, lambda route: route.abort())
        page = contexts[line].new_page()
        page.goto(f"{address}/{path}")
        return page

    yield opened
    for context in contexts.values():
        context.close()


def kept(page):
    return page.evaluate(NAMES_OF_KEPT)


def pages_with_calculator(site, language):
    pages = sorted((site / language).rglob("index.html"))
    held = [page for page in pages if 'class="ga-calculator' in page.read_text(encoding="utf-8")]
    return [f"{page.parent.relative_to(site).as_posix()}/" for page in held]


def partition(pages):
    """The pages of experiments, and the others."""
    return [[page for page in pages if ("/pitfalls/" in page) == of_experiment] for of_experiment in (True, False)]


@pytest.fixture
def await_kept(until, await_files, site, address):
    """Wait until every page with a calculator and, if asked for, Python are kept."""

    def wait(page, language, *, python=True):
        wanted = [f"{address}/{path}" for path in pages_with_calculator(site, language)]
        until(page, f"Promise.all({wanted}.map((url) => caches.match(url))).then((found) => found.every(Boolean))")
        if python:
            await_files(page)

    return wait


def test_every_calculator_works_without_a_network(visit, host, site, address, calculator_of, language, await_kept):
    page = visit(f"{language}/")
    await_kept(page, language)
    host.down = True
    page.reload()
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    page.evaluate("window.survivor = true")
    experiments, calculators = partition(pages_with_calculator(site, language))
    for path in [*calculators, experiments[0]]:  # One experiment stands for all: they are one script and one function.
        page.evaluate(FOLLOW, f"{address}/{path}")
        page.wait_for_url(f"**/{path}*")
        section = page.locator(".ga-calculator").first
        name = re.search(r'data-calculator="([^"]+)"', (site / path / "index.html").read_text(encoding="utf-8"))[1]
        expect(section).to_have_attribute("data-calculator", name)
        expect(section.locator("output").first).to_have_attribute("aria-live", "off")  # The script has taken it over.
        section.locator("form").evaluate("(form) => form.requestSubmit()")
        expect(section).to_have_attribute("data-state", "ready", timeout=PATIENCE * 1000)
    assert page.evaluate("window.survivor") is True, "each page was fetched by the theme, none by the browser"


def test_open_page_goes_on_when_the_site_changes_and_the_next_navigation_brings_the_new_one(
    visit, host, next_site, address, calculator_of, await_kept, until
):
    page = visit("en/")
    await_kept(page, "en")
    host.folder = next_site
    calculator = calculator_of(page)
    calculator.type("replicas", "4")
    calculator.shows(effective_batch="128")
    calculator.type("activation_per_sample", "1 GB")  # draws pictures anew, with files that only the old site had
    expect(page.locator(".ga-picture[data-live=true]:visible")).to_have_count(2)
    until(page, "location.hash.includes('replicas=4')")

    page.evaluate(FOLLOW, f"{address}/en/calculators/batch-split/")
    expect(page).to_have_title(re.compile(" 2$"))
    until(page, "performance.getEntriesByType('resource').some(({name}) => name.includes('ga-00000000/js/page.mjs'))")
    page.go_back()
    expect(page).to_have_title(re.compile(" 2$"))
    expect(calculator_of(page).control("replicas")).to_have_value("4")
    calculator_of(page).shows(effective_batch="128")


def test_each_version_serves_its_own_files_and_the_old_one_ends_with_its_last_page(
    visit, host, next_site, address, await_kept, until
):
    page = visit("en/", PLAIN)
    outsider = visit("../outside", PLAIN)  # No page of the site, so it keeps no worker from ending.
    await_kept(page, "en", python=False)
    host.folder = next_site
    page.goto(f"{address}/en/calculators/updates/")
    expect(page).to_have_title(re.compile(" 2$"))
    until(outsider, f"{REGISTRATION}.then(({{waiting}}) => waiting?.state === 'installed')")

    # The old worker serves as long as a page is open. It keeps no page of the new site, whose files it has not got.
    host.down = True
    page.goto(f"{address}/en/calculators/updates/")
    expect(page).not_to_have_title(re.compile(" 2$"))
    # The last of its pages is closed: the new worker takes over, with every page that the old one kept.
    page.close()
    until(outsider, f"{REGISTRATION}.then(({{active, waiting}}) => !waiting && active.state === 'activated')")
    until(outsider, "caches.keys().then((names) => names.filter((one) => one.startsWith('gradaccum-site-')).length === 1)")
    page = visit("en/calculators/updates/", PLAIN)
    expect(page).to_have_title(re.compile(" 2$"))
    assert list(kept(page)) == ["gradaccum-site-00000000"]


def test_kept_page_is_shown_when_the_network_stays_silent(visit, host, next_site, address, await_kept):
    host.patience = SHORT
    page = visit("en/", PLAIN)
    await_kept(page, "en", python=False)
    host.folder, host.silent = next_site, "/en/calculators/updates/"
    page.goto(f"{address}/en/calculators/updates/")
    expect(page).not_to_have_title(re.compile(" 2$"))
    host.goes_on.set()


def test_errors_are_never_kept(visit, host, await_kept, until):
    page = visit("en/", PLAIN)
    await_kept(page, "en", python=False)
    host.failing = r"learn/memory|never\.0123abcd\.min\.js"
    assert page.evaluate("fetch('learn/memory/').then(({status}) => status)") == 503
    assert page.evaluate("fetch('never.0123abcd.min.js').then(({status}) => status)") == 503
    assert page.evaluate("fetch('nowhere/').then(({status}) => status)") == 404
    urls = {url for urls in kept(page).values() for url in urls}
    assert not {url for url in urls if "learn/memory/" in url or "never" in url or "nowhere" in url}
    host.failing = ""
    assert page.evaluate("fetch('learn/memory/').then(({status}) => status)") == 200
    until(page, "caches.match('learn/memory/').then(Boolean)")
    host.down = True
    assert page.evaluate("fetch('learn/memory/').then(({status}) => status)") == 200


def test_page_comes_from_the_network_while_there_is_one(visit, host, next_site, await_kept):
    page = visit("en/", PLAIN)
    await_kept(page, "en", python=False)
    host.folder = next_site
    page.reload()
    expect(page).to_have_title(re.compile(" 2$"))


def test_nothing_is_kept_unasked_for_a_reader_who_saves_data(visit):
    page = visit("en/", line=SAVING)
    page.wait_for_timeout(2000)
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then(({length}) => length)") == 0
    assert kept(page) == {}


def test_site_can_be_installed(visit, language):
    page = visit(f"{language}/")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    devtools = page.context.new_cdp_session(page)
    faults = {error["errorId"] for error in devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]}
    assert faults <= {"in-incognito"}, "a context of a test is one"
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["errors"] == []
