"""Build the site of the last commit twice, in two folders with two surroundings, and compare every file byte for byte.

``python scripts/reproduce.py`` says what differs, or that nothing does; with ``--record`` it writes the figures to
docs/data/reliability. What must not leave a trace: the folder, the time zone, the language of the shell, the order of sets,
the rights that new files get, the hour.

``--with FOLDER`` compares the site that is built here with one that was built elsewhere: by another user, another Python.
"""

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from paths import NODE_MODULES, RELIABILITY, ROOT, SITE, VENDOR
from revision import commit, git

RECORD = RELIABILITY / "reproducible.json"
SURROUNDINGS = {
    "one": {"TZ": "Pacific/Kiritimati", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1", "umask": "022"},
    "another folder": {"TZ": "Pacific/Niue", "LC_ALL": "C", "PYTHONHASHSEED": "2", "umask": "077"},
}
SHOWN = 160


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help=f"write the figures to {RECORD.relative_to(ROOT)}")
    parser.add_argument("--with", type=Path, dest="elsewhere", help="a built site, in the place of two fresh builds")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.elsewhere:
            sites = [SITE, arguments.elsewhere]
        else:
            sites = [built(Path(folder) / name, surroundings) for name, surroundings in SURROUNDINGS.items()]
        differing = differences(*sites)
        figures = {
            "builds": len(sites),
            "files": len(files_of(sites[0])),
            "bytes": sum(path.stat().st_size for path in files_of(sites[0]).values()),
            "wheels": len([name for name in files_of(sites[0]) if name.endswith(".whl")]),
            "differing": len(differing),
        }
    print(*differing, sep="\n", end="\n" * bool(differing))
    print(
        f"{figures['files']} files, {figures['bytes']:,} bytes, {figures['builds']} builds: {figures['differing']} files differ"
    )
    if arguments.record:
        RECORD.parent.mkdir(parents=True, exist_ok=True)
        RECORD.write_text(json.dumps(recorded(figures, elsewhere=bool(arguments.elsewhere)), indent=2) + "\n", encoding="utf-8")
    sys.exit(bool(differing))


def built(clone: Path, surroundings: dict[str, str]) -> Path:
    """Build the last commit in a clone of its own; only what was downloaded is shared."""
    git("clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone))
    (clone / "node_modules").symlink_to(NODE_MODULES)
    (clone / "build").mkdir()
    (clone / VENDOR.relative_to(ROOT)).symlink_to(VENDOR)
    site = clone / "site"
    environment = {**os.environ, **surroundings, "PYTHONPATH": str(clone / "src")}
    mask = int(environment.pop("umask"), 8)
    print(f"Building in {clone.name!r} ...", flush=True)
    command = [sys.executable, "scripts/build_site.py"]
    subprocess.run(command, cwd=clone, env=environment, umask=mask, check=True)
    return site


def differences(first: Path, second: Path) -> list[str]:
    """One line for each file that only one of the folders has, or that differs: its name, and where."""
    one, other = files_of(first), files_of(second)
    lonely = [f"{name}: in one build only" for name in sorted(one.keys() ^ other.keys())]
    return lonely + [
        f"{name}: {first_difference(one[name].read_bytes(), other[name].read_bytes())}"
        for name in sorted(one.keys() & other.keys())
        if one[name].read_bytes() != other[name].read_bytes()
    ]


def files_of(site: Path) -> dict[str, Path]:
    """The files of a folder by their names in it."""
    return {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}


def first_difference(one: bytes, other: bytes) -> str:
    """Where two texts part, and how each goes on."""
    at = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other)))
    return f"from byte {at}: {one[at : at + SHOWN]!r} and {other[at : at + SHOWN]!r}"


def recorded(figures: dict[str, int], *, elsewhere: bool) -> dict[str, object]:
    """The measurement as the page about reliability reads it."""
    return {
        "name": "reproducible",
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "commit": commit(),
        "command": "make reproduce ARGS='--record --with FOLDER'" if elsewhere else "make reproduce ARGS=--record",
        "figures": figures,
    }


if __name__ == "__main__":
    main()
