"""The process that runs a dry run, from the outside: start it, wait, read what it left."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from gradaccum.errors import InputError

PACKAGES = Path(__file__).parents[2]


def command() -> list[str]:
    """What starts the process; ``-m`` finds the package on the path that ``environment`` sets."""
    return [sys.executable, "-m", "gradaccum.torch"]


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Outputs of one dry run; those of an interrupted one say ``"complete": false`` and hold what was reached.

    Errors: ``InputError`` for what the process refuses, and ``missing`` where PyTorch is not installed.
    """
    if importlib.util.find_spec("torch") is None:
        raise InputError("source", "missing", "package", value="torch")
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        # The reader's modules are looked for where the command is given, and where this Python looks.
        wanted = request | {"result": str(result), "path": [str(Path.cwd()), *sys.path]}
        status = _wait(json.dumps(wanted))
        document = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
    if "error" in document:
        field, code, rule, details = document["error"]
        raise InputError(field, code, rule, **details)
    if "outputs" not in document:
        raise InputError("source", "unsupported_model", "process_ended", status=status)
    outputs: dict[str, Any] = document["outputs"]
    return outputs


def _wait(request: str) -> int:
    """Run the process to its end, whatever ends it: Ctrl-C reaches it too, and it leaves what it has."""
    paths = [str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    process = subprocess.Popen(command(), stdin=subprocess.PIPE, text=True, env=environment)  # noqa: S603 - this very Python
    try:
        process.communicate(request)
    except KeyboardInterrupt:
        process.wait()
    return process.returncode
