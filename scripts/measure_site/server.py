"""Serves the built site as GitHub Pages does: below a path, texts compressed with gzip, ten minutes in the browser's cache."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import postbuild
from paths import SITE

BASE = "/gradaccum/"
# Bytes that go out in one piece over a slow line.
PIECE = 16_384
TYPES = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".whl": "application/octet-stream",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
    ".zip": "application/zip",
}
PACKED = {".png", ".whl", ".woff2", ".zip"}
# Pages name the host they were built for, in which a search engine would see another site than the one measured.
NAMING = {".html", ".xml"}


class Handler(BaseHTTPRequestHandler):
    """Answers with a file, or with the page for addresses that are nowhere."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer a request."""
        path = file_of(urlsplit(self.path).path)
        status = 200 if path else 404
        path = path or SITE / "404.html"
        line = self.server.line
        time.sleep(line.delay / 1000)
        host, port = self.server.server_address[:2]
        body = content(path, f"http://{host!s}:{port}{BASE}")
        self.send_response(status)
        self.send_header("content-type", TYPES.get(path.suffix, "application/octet-stream"))
        if path.suffix not in PACKED:
            self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body)))
        self.send_header("cache-control", "max-age=600")
        self.end_headers()
        line.send(self.wfile.write, body)


def file_of(path: str) -> Path | None:
    """The file at an address."""
    file = SITE / path.removeprefix(BASE)
    file = file / "index.html" if file.is_dir() else file
    return file if path.startswith(BASE) and file.is_file() else None


@cache
def content(path: Path, address: str) -> bytes:
    """The bytes that go over the wire."""
    body = path.read_bytes()
    if path.suffix in NAMING:
        body = body.replace(postbuild.configured_base().encode(), address.encode())
    return body if path.suffix in PACKED else gzip.compress(body, 6, mtime=0)


class Line:
    """A line of so many bits a second, which all answers share, with a delay of so many milliseconds before each."""

    def __init__(self, bits: int = 0, delay: int = 0) -> None:
        self.bits, self.delay = bits, delay
        self._lock = threading.Lock()

    def send(self, write: Callable[[bytes], object], body: bytes) -> None:
        """Send a body as fast as the line goes."""
        if not self.bits:
            write(body)
            return
        for start in range(0, len(body), PIECE):
            piece = body[start : start + PIECE]
            with self._lock:
                time.sleep(len(piece) * 8 / self.bits)
            write(piece)


class Server(ThreadingHTTPServer):
    """The site at a free port of this machine, while the ``with`` block lasts."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.line = Line()
        self.address = f"http://127.0.0.1:{self.server_port}{BASE}"

    def handle_error(self, *_: object) -> None:
        """Say nothing of a browser that hung up."""

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
