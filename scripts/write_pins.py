"""Write the exact versions into constraints/, one file for each dependency group of pyproject.toml.

The resolver is uv, installed for this in an environment of its own. Its files name versions for every platform and every
Python the project supports, and no address.
"""

import subprocess
import tempfile
import tomllib
import venv
from pathlib import Path

from paths import CONSTRAINTS, ROOT

OPTIONS = ("--universal", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-config", "--quiet")


def main() -> None:
    """Resolve the groups in their order, each within what those before it chose."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = project["project"]["requires-python"].removeprefix(">=")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder) / "bin"
        subprocess.run([programs / "pip", "install", "--quiet", "uv"], check=True)
        earlier: list[str] = []
        for group in project["dependency-groups"]:
            target = f"constraints/{group}.txt"
            command = [programs / "uv", "pip", "compile", *OPTIONS, "--python-version", oldest, "--group", group]
            CONSTRAINTS.mkdir(exist_ok=True)
            print(target, flush=True)
            subprocess.run([*command, *earlier, "--upgrade", "-o", target], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            earlier += ["-c", target]


if __name__ == "__main__":
    main()
