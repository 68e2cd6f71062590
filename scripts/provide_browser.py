"""Make sure that a Chromium is there for the browser tests.

Looked for in this order: the program named in GRADACCUM_BROWSER, the machine's Chromium or Chrome, the one Playwright has
downloaded, the one unpacked into build/. When there is none: Playwright's download, and where that fails or its build does
not start, Debian's package, installed by root and unpacked into build/ for everybody else.
"""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

from paths import BUILD

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
MAC_PATHS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
UNPACKED = BUILD / "browser"
# The libraries that the package needs lie beside it, not where the system looks.
LAUNCHER = """\
#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
LD_LIBRARY_PATH=$here/root/usr/lib/chromium:$(echo "$here"/root/usr/lib/*-linux-gnu*)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$here/root/usr/lib/chromium/chromium" "$@"
"""
DOWNLOAD_SECONDS = 300
HELP = """\
No Chromium was found, and none could be installed.
Install Chromium or Chrome with your system's package manager, or say where it is:
    make test GRADACCUM_BROWSER=/path/to/chromium"""


def main() -> None:
    """Install a browser where it is missing and say which one is used."""
    browser = find_browser() or download() or install_package() or unpack_package()
    if browser is None:
        sys.exit(HELP)
    print(f"Browser: {browser}")


def find_browser() -> str | None:
    """Return the path of a Chromium that starts, or None."""
    named = os.environ.get("GRADACCUM_BROWSER")
    if named:
        if not starts(named):
            sys.exit(f"GRADACCUM_BROWSER names {named}, which does not start.")
        return named
    found = [path for name in NAMES if (path := shutil.which(name))]
    places = [*found, *MAC_PATHS, str(UNPACKED / "chromium")]
    return next((path for path in places if starts(path)), None) or downloaded()


def starts(browser: str) -> bool:
    """Tell whether the program runs: Ubuntu's chromium-browser may be a stub, and a download may lack system libraries."""
    try:
        answer = subprocess.run([browser, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def downloaded() -> str | None:
    """Return the path of Playwright's own build when it was downloaded before and starts."""
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if starts(path) else None


def download() -> str | None:
    """Let Playwright download its build."""
    print("No Chromium on this machine: trying Playwright's download.", flush=True)
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        print(f"  no answer within {DOWNLOAD_SECONDS} seconds")
        return None
    if done.returncode != 0:
        print(f"  it failed: {(done.stderr.strip().splitlines() or ['no reason given'])[0]}")
        return None
    return downloaded()


def install_package() -> str | None:
    """Install Debian's package when root on a machine that has apt."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return None
    print("Installing the package chromium with apt-get.", flush=True)
    return find_browser() if apt_get() else None


def unpack_package() -> str | None:
    """Unpack Debian's package, and what it needs beyond this machine, into build/: nobody need be root for that."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return None
    print(f"Unpacking the package chromium into {UNPACKED}.", flush=True)
    shutil.rmtree(UNPACKED, ignore_errors=True)
    lists, cache, root = UNPACKED / "lists", UNPACKED / "cache", UNPACKED / "root"
    for folder in (lists / "partial", cache / "archives" / "partial", root):
        folder.mkdir(parents=True)
    options = [f"Dir::State::lists={lists}", f"Dir::Cache={cache}", "Debug::NoLocking=1", "APT::Sandbox::User="]
    if not apt_get("--download-only", *(part for option in options for part in ("--option", option))):
        return None
    for package in sorted((cache / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "--extract", str(package), str(root)], check=True)
    shutil.rmtree(cache)
    shutil.rmtree(lists)
    launcher = UNPACKED / "chromium"
    launcher.write_text(LAUNCHER, encoding="utf-8")
    launcher.chmod(0o755)
    return find_browser()


def apt_get(*options: str) -> bool:
    """Update the lists and install the package, in the way the options say."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        done = subprocess.run(["apt-get", *options, *arguments], env=quiet, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"  apt-get {arguments[0]} failed:\n{done.stderr.strip()}")
            return False
    return True


if __name__ == "__main__":
    main()
