"""Node, which renders formulas and draws pictures while the site is built."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from paths import ROOT


def node_command() -> str:
    """The machine's Node, or the one that the environment brought along."""
    beside_python = Path(sys.executable).parent
    found = shutil.which("node") or shutil.which("node", path=str(beside_python))
    if found is None:
        raise FileNotFoundError("Node is needed to build the site; `make setup` installs it")
    return found


def run_node(script: Path, request: Any) -> str:
    """What the script prints when it is given the request as JSON."""
    done = subprocess.run(
        [node_command(), str(script)],
        input=json.dumps(request, ensure_ascii=False),
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script.name} failed:\n{done.stderr}")
    return done.stdout
