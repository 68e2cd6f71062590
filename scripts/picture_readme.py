"""Take the README's pictures of the calculator, one per language, from the built site: for when its look has changed."""

import functools
import http.server
import threading

from playwright.sync_api import sync_playwright

from paths import DOCS, SITE
from provide_browser import find_browser

# As root, which is how containers run, Chromium starts only without its sandbox; the page it opens is our own.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NAMES = {"en": "calculator.png", "ar": "calculator.ar.png"}


def main() -> None:
    """Open the front page of each language and keep what its calculator looks like."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(SITE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for language, name in NAMES.items():
            page = browser.new_page(viewport={"width": 1280, "height": 1200}, color_scheme="light")
            page.goto(f"http://127.0.0.1:{server.server_port}/{language}/")
            page.evaluate("() => document.fonts.ready")
            page.locator(".ga-calculator").screenshot(path=DOCS / "assets" / "images" / name, animations="disabled")
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
