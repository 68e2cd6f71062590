"""Copy the third-party files that the site serves itself out of node_modules.

``python scripts/vendor.py`` fills build/vendor; the site's build copies that folder beside our own assets.
``python scripts/vendor.py --release`` writes docs/assets/js/pyodide-release.mjs: which Pyodide the page loads, from where,
and the hash that each of its files must have.
"""

import argparse
import base64
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from fonts import copy_fonts, split_katex_fonts
from paths import DOCS, NODE_MODULES, VENDOR

RELEASE = DOCS / "assets" / "js" / "pyodide-release.mjs"

# What loadPyodide() fetches. The package's lock file is not among them: the page passes a lock of its own.
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", action="store_true", help=f"write {RELEASE.name} from the npm package")
    if parser.parse_args().release:
        RELEASE.parent.mkdir(parents=True, exist_ok=True)
        RELEASE.write_text(release_module(), encoding="utf-8")
    else:
        vendor()


def vendor(target: Path = VENDOR) -> None:
    """Fill ``target`` afresh with Pyodide, KaTeX, Plot, D3 and the fonts."""
    shutil.rmtree(target, ignore_errors=True)
    copy(NODE_MODULES / "pyodide", target / "pyodide", *PYODIDE_FILES)
    copy(NODE_MODULES / "katex", target / "katex", "LICENSE", "dist/katex.min.js")
    copy_katex_style(target / "katex")
    copy(NODE_MODULES / "d3", target / "plot", "dist/d3.min.js")
    copy(NODE_MODULES / "@observablehq" / "plot", target / "plot", "LICENSE", "dist/plot.umd.min.js")
    shutil.copy(NODE_MODULES / "d3" / "LICENSE", target / "plot" / "LICENSE.d3")
    copy_fonts(target / "fonts")


def copy(source: Path, target: Path, *names: str) -> None:
    """Copy the named files of a package into one flat folder."""
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(source / name, target / Path(name).name)


def copy_katex_style(target: Path) -> None:
    """Copy KaTeX's stylesheet with the one font format that every browser able to run the page can read."""
    dist = NODE_MODULES / "katex" / "dist"
    style = (dist / "katex.min.css").read_text(encoding="utf-8")
    style = re.sub(r',url\(fonts/[\w-]+\.(?:woff|ttf)\) ?format\("(?:woff|truetype)"\)', "", style)
    (target / "katex.min.css").write_text(style, encoding="utf-8")
    names = sorted(set(re.findall(r"url\((fonts/[^)]+)\)", style)))
    if not names or not all(name.endswith(".woff2") for name in names):
        raise SystemExit(f"vendor: KaTeX's stylesheet asks for other fonts than .woff2: {names}")
    copy(dist, target / "fonts", *names)
    split_katex_fonts(target)


def release_module() -> str:
    """Return the text of the module that tells the page which Pyodide to load."""
    package = NODE_MODULES / "pyodide"
    version: str = read_json(package / "package.json")["version"]
    lines = [
        "// Written by `python scripts/vendor.py --release` from the npm package; a test compares the two.",
        f'export const version = "{version}";',
        f'export const cdn = "https://cdn.jsdelivr.net/npm/pyodide@{version}/";',
        "export const files = {",
        *(f'  "{name}": {{ integrity: "{integrity(package / name)}" }},' for name in PYODIDE_FILES),
        "};",
        "",
    ]
    return "\n".join(lines)


def integrity(path: Path) -> str:
    """Return a file's hash as subresource integrity writes it."""
    digest = hashlib.sha384(path.read_bytes()).digest()
    return f"sha384-{base64.b64encode(digest).decode('ascii')}"


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
