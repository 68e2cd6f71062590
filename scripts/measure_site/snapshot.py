"""What it would cost and spare if the site sent a memory snapshot of the started interpreter: ``snapshot.mjs`` in Node.js."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from paths import shared_assets


def measure() -> dict[str, Any]:
    """Milliseconds of processor time to start Python in two ways, and bytes to download for each."""
    script = Path(__file__).with_suffix(".mjs")
    command = ["node", str(script), str(shared_assets() / "python")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
