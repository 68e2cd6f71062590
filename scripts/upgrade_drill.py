"""Build the site with other packages than the pinned ones, and say which of the tested facts became different.

``newest``      the newest release of every Python package that builds the site
``properdocs``  ProperDocs, which goes on where MkDocs stopped, with the same theme and plugins
``zensical``    Zensical, by the theme's makers, which reads mkdocs.yml by itself

Each is installed into an environment of its own below build/. The facts are those that tests hold the pinned site to: which
pages there are, their headings and anchors, their links, and their words, figures included.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
import venv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from paths import BUILD, ROOT, SITE
from provide_node import search_path

FOLDER = BUILD / "upgrade"
LANGUAGES = {"ar": "mkdocs.yml", "en": "mkdocs.en.yml"}
BUILDERS = {"newest": "mkdocs", "properdocs": "properdocs", "zensical": "zensical"}
EXTRA = {"newest": [], "properdocs": ["properdocs"], "zensical": ["zensical"]}
SHOWN = 12
# The finished site names this folder by its content.
NAMED = re.compile(r"/ga-[0-9a-f]{8}/")


@dataclass(frozen=True)
class Facts:
    """What tests hold a page to."""

    headings: Counter[str]
    links: Counter[str]
    words: Counter[str]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="*", choices=[*BUILDERS, []], help="which (default: all)")
    parser.add_argument("--report", type=Path, help="append the report to this file too")
    arguments = parser.parse_args()
    differs = False
    for variant in arguments.variants or BUILDERS:
        lines = [f"## {variant}", "", *report(variant)]
        differs = differs or lines[-1] != "Nothing differs."
        text = "\n".join([*lines, "", ""])
        print(text, flush=True)
        if arguments.report:
            with arguments.report.open("a", encoding="utf-8") as file:
                file.write(text)
    sys.exit(differs)


def report(variant: str) -> list[str]:
    """Install, build and compare; one line for each finding."""
    python = installed(variant)
    site = FOLDER / variant / "site"
    failures = built(variant, python, site)
    return [f"Built with {versions(python)}.", "", *failures, *(compared(site) or ["Nothing differs."] * (not failures))]


def installed(variant: str) -> Path:
    """An environment with the newest release of what builds the site, whatever is pinned."""
    folder = FOLDER / variant / "venv"
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    names = [re.split(r"[ ;<>=~!]", asked)[0] for group in ("build", "docs") for asked in groups[group]]
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--upgrade", *names, *EXTRA[variant]], check=True)
    return python


def versions(python: Path) -> str:
    """The packages that were installed and could matter."""
    done = subprocess.run([str(python), "-m", "pip", "freeze"], capture_output=True, text=True, check=True)
    return ", ".join(
        line
        for line in done.stdout.splitlines()
        if re.match(r"(mkdocs|properdocs|zensical|markdown|pymdown|jinja)", line, re.IGNORECASE)
    )


def built(variant: str, python: Path, site: Path) -> list[str]:
    """Let the builder write the pages of both languages as it does before ``postbuild``; return what went wrong."""
    failures = []
    environment = {**os.environ, "PATH": search_path(), "PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    for language, config in LANGUAGES.items():
        own = config_for(variant, config, site / language)
        command = [str(python), "-m", BUILDERS[variant], "build", "-f", str(own)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        own.unlink()
        if done.returncode != 0:
            said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            failures.append(f"- {language}: the build fails: `{said[-1] if said else done.returncode}`")
    return failures


def config_for(variant: str, config: str, target: Path) -> Path:
    """A configuration beside the project's own that differs in where it builds to: Zensical takes no option for that."""
    path = ROOT / f".upgrade-{variant}-{config}"
    path.write_text(f"INHERIT: {config}\nsite_dir: {target}\n", encoding="utf-8")
    return path


def compared(site: Path) -> list[str]:
    """The facts that differ from those of the pinned site, page by page."""
    lines = []
    for language in LANGUAGES:
        pinned, other = pages(SITE / language), pages(site / language)
        missing, added = sorted(pinned.keys() - other.keys()), sorted(other.keys() - pinned.keys())
        lines += [f"- {language}: {len(missing)} pages are missing: {', '.join(missing[:SHOWN])}"] * bool(missing)
        lines += [f"- {language}: {len(added)} pages are new: {', '.join(added[:SHOWN])}"] * bool(added)
        for fact in ("headings", "links", "words"):
            differing = {
                name: changes(getattr(pinned[name], fact), getattr(other[name], fact)) for name in pinned.keys() & other.keys()
            }
            found = {name: change for name, change in sorted(differing.items()) if change}
            if found:
                first, change = next(iter(found.items()))
                lines.append(f"- {language}: {fact} differ on {len(found)} of {len(differing)} pages; first {first}: {change}")
    return lines


def changes(one: Counter[str], other: Counter[str]) -> str:
    """What is gone and what is new."""
    parts = [
        f"{sign}{text!r}" for sign, found in (("-", one - other), ("+", other - one)) for text in list(found)[: SHOWN // 2]
    ]
    return " ".join(parts)


def pages(folder: Path) -> dict[str, Facts]:
    """The facts of every page below a folder."""
    files = [path for path in sorted(folder.rglob("*.html")) if path.name != "404.html"]
    return {path.relative_to(folder).as_posix(): facts(path.read_text(encoding="utf-8")) for path in files}


def facts(html: str) -> Facts:
    """Headings with their anchors, links, and words of the text; formulas are drawn later, so not compared."""
    page = BeautifulSoup(html, "lxml")
    body = page.find("article") or page.find("main") or page
    if not isinstance(body, Tag):
        return Facts(Counter(), Counter(), Counter())
    # What ``postbuild`` adds to the finished site, the builder alone has not written.
    for drawn in body.select(".arithmatex, script, style, .headerlink, .ga-wheel, .ga-unseen, .ga-pitfall"):
        drawn.decompose()
    for mark in body.select("pre bdi, pre span"):
        mark.unwrap()
    body.smooth()
    headings = Counter(f"{heading.name}#{heading.get('id')}" for heading in body.find_all(re.compile("^h[1-6]$")))
    links = Counter(NAMED.sub("/ga/", str(link["href"])) for link in body.find_all("a", href=True))
    return Facts(headings, links, Counter(body.get_text(" ").split()))


if __name__ == "__main__":
    main()
