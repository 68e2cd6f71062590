"""Serve the built site on this machine, rebuild it when a source changes, and reload the pages that are open."""

import argparse
import errno
import logging
import mimetypes
import subprocess
import sys
import time
from typing import Any

from mkdocs.livereload import LiveReloadServer

import content_security
import postbuild
from paths import ROOT, SITE

DEFAULT_PORT = 8000
PORTS_TRIED = 20
WATCHED = ("docs", "src", "scripts", "mkdocs.yml", "mkdocs.en.yml")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s)")
    parser.add_argument("--port", type=int, help=f"default: {DEFAULT_PORT}, or the next one that is free")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    # A browser compiles WebAssembly while it arrives only under this type, which some systems' tables lack.
    mimetypes.add_type("application/wasm", ".wasm")
    server = listen(arguments.host, arguments.port)
    for name in WATCHED:
        server.watch(str(ROOT / name))
    announce(server.url)
    try:
        server.serve()  # type: ignore[no-untyped-call]
    except KeyboardInterrupt:
        print()
    finally:
        server.shutdown()


def listen(host: str, wanted: int | None) -> LiveReloadServer:
    """Return a server that holds its port: the one wanted, or the first free one."""
    ports = [wanted] if wanted is not None else range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED)
    for port in ports:
        server = SiteServer(rebuild, host, port, str(SITE))
        server.error_handler = lambda _code: (SITE / "404.html").read_bytes()
        try:
            server.server_bind()
        except OSError as error:
            server.server_close()
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return server
    sys.exit(f"Port {ports[0]} is taken. Choose another one: make serve PORT=8080")


class SiteServer(LiveReloadServer):
    """MkDocs' own development server, on a port that was bound beforehand."""

    bound = False

    def _serve_request(self, environ: dict[str, Any], start_response: Any) -> Any:
        """Name this address in the sitemaps: the theme follows links without reloading only to pages it finds there."""
        path = SITE / environ["PATH_INFO"].lstrip("/")
        if path.name != "sitemap.xml" or not path.is_file():
            return super()._serve_request(environ, start_response)
        start_response("200 OK", [("Content-Type", "application/xml; charset=utf-8")])
        text = path.read_text(encoding="utf-8").replace(postbuild.configured_base(), self.url)
        return [text.encode()]

    def _inject_js_into_html(self, content: bytes, epoch: float) -> bytes:
        """Let the page's policy allow the script that reloads it."""
        html: bytes = super()._inject_js_into_html(content, epoch)  # type: ignore[no-untyped-call]
        return content_security.allowing(html, html[html.rindex(b"<script>") + len(b"<script>") : html.rindex(b"</script>")])

    def server_bind(self) -> None:
        """Bind once: the server's start would do it again."""
        if not self.bound:
            super().server_bind()
            self.bound = True


def rebuild() -> None:
    """Build the site in a fresh interpreter, which sees changed sources; on a fault say so and keep the old site."""
    print("Something changed: building again ...", flush=True)
    started = time.monotonic()
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "build_site.py")], cwd=ROOT, check=False)
    spent = time.monotonic() - started
    if done.returncode == 0:
        print(f"Built in {spent:.0f} s; open pages reload.", flush=True)
    else:
        print("The build failed; the pages shown are those from before.", flush=True)


def announce(url: str) -> None:
    """Print the addresses to open."""
    print(f"\n  The site:   {url}\n  العربية:    {url}ar/\n  English:    {url}en/\n\n  Ctrl+C stops it.\n", flush=True)


if __name__ == "__main__":
    main()
