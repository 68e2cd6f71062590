"""Make sure that a Chromium is there for the browser tests.

Looked for in this order: the program named in GRADACCUM_BROWSER, the machine's Chromium or Chrome, the one Playwright has
downloaded. When there is none: Playwright's download, and where that fails or its build does not start, Debian's package
(as root).
"""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
MAC_PATHS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
DOWNLOAD_SECONDS = 300
HELP = """\
No Chromium was found, and none could be installed.
Install Chromium or Chrome with your system's package manager, or say where it is:
    make test GRADACCUM_BROWSER=/path/to/chromium"""


def main() -> None:
    """Install a browser where it is missing and say which one is used."""
    browser = find_browser() or download() or install_package()
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
    return next((path for path in [*found, *MAC_PATHS] if starts(path)), None) or downloaded()


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
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        done = subprocess.run(["apt-get", *arguments], env=quiet, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"  apt-get {arguments[0]} failed:\n{done.stderr.strip()}")
            return None
    return find_browser()


if __name__ == "__main__":
    main()
