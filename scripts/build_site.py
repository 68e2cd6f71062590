"""Build both sites: wheel, lock file, pages in Arabic and English, shared assets, root page.

The result is put together beside the old site and takes its place only when everything has worked.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import content_security
import postbuild
import social_cards
from evidence.cells import cells
from page_parts import licences
from paths import BUILD, CONFIGS, DOCS, NODE_MODULES, ROOT, SHARED_ASSETS, SITE, VENDOR
from provide_node import search_path
from site_files import finish_files, write_worker

# Any fixed moment makes the wheel's bytes, and so its hash, the same on every build. Zip cannot hold one before 1980.
FIXED_MOMENT = "1700000000"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, default=SITE, help="folder to build into (default: site)")
    build(parser.parse_args().site.resolve())


def build(site: Path = SITE) -> None:
    """Build everything into ``site``."""
    BUILD.mkdir(exist_ok=True)
    # Compared once, before both languages read it from the folder it is kept in.
    cells()
    # A folder of its own for each build: `make serve` may build while `make test` does.
    with tempfile.TemporaryDirectory(prefix="site-", dir=BUILD) as folder:
        fresh = Path(folder) / "site"
        build_pages(fresh)
        assets = fresh / SHARED_ASSETS
        shutil.copytree(DOCS / "assets", assets)
        shutil.copytree(VENDOR, assets, dirs_exist_ok=True)
        provide_package(assets / "python")
        licences.write_texts(fresh)
        postbuild.main(fresh)
        social_cards.main(fresh)
        finish_files(fresh)
        content_security.main(fresh)
        write_worker(fresh)
        replace(site, fresh, aside=Path(folder) / "old")


def build_pages(target: Path) -> None:
    """Run MkDocs for both languages at once, each into its folder; show what it says only when it fails."""
    environment = {**os.environ, "PATH": search_path(), "NO_MKDOCS_2_WARNING": "1"}
    runs = {}
    for language, config in CONFIGS.items():
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(target / language)]
        runs[language] = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
        )
    failed = []
    for language, run in runs.items():
        said, _ = run.communicate()
        if run.returncode != 0:
            failed.append(language)
            print("\n".join(line for line in said.splitlines() if not line.startswith("INFO")))
    if failed:
        sys.exit(f"The pages could not be built: {', '.join(failed)}. What MkDocs says stands above.")


def provide_package(target: Path) -> None:
    """Put the package's wheel where the page fetches it, with the lock file that says what its hash must be."""
    wheel = build_wheel(target)
    (target / "lock.json").write_text(json.dumps(lock(wheel), indent=1), encoding="utf-8")


def build_wheel(target: Path) -> Path:
    """Build the package's wheel into a folder, the same bytes for the same sources, and return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(target)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": FIXED_MOMENT}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"The wheel could not be built:\n{done.stdout}{done.stderr}")
    (wheel,) = target.glob("*.whl")
    return wheel


def lock(wheel: Path) -> dict[str, Any]:
    """Return a Pyodide lock file that knows one package: ours.

    Pyodide refuses a lock made for another ABI, so ``info`` is the one of the release we ship.
    """
    name, version = wheel.name.split("-")[:2]
    release = json.loads((NODE_MODULES / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    package = {
        "name": name,
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": [name],
        "depends": [],
        "unvendored_tests": False,
    }
    return {"info": release["info"], "packages": {name: package}}


def replace(site: Path, fresh: Path, aside: Path) -> None:
    """Let ``fresh`` take the place of ``site`` in two renames, so that a reader hardly ever finds nothing there."""
    if site.exists():
        site.rename(aside)
    fresh.rename(site)


if __name__ == "__main__":
    main()
