"""Record the dry run that reference/dry-run shows; needs the environment of `make verify`.

python scripts/record_dry_run.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from paths import DOCS, ROOT

COMMAND = ["my_model:build", "--micro-batch", "8", "--accumulation-steps", "4", "--precision", "bf16-mixed"]
SNIPPETS = DOCS / "snippets"
RECORDING = SNIPPETS / "my_model.json"


def run() -> dict[str, object]:
    """The command, given where the snippet is, and its outputs."""
    words = [sys.executable, "-m", "gradaccum", "dry-run", *COMMAND, "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(words, cwd=SNIPPETS, env=environment, capture_output=True, text=True, check=True)
    outputs = json.loads(done.stdout)["outputs"]
    # The page shows sums; the full ledger is for whoever runs it.
    del outputs["ledger"]
    return {"command": COMMAND, "outputs": outputs}


if __name__ == "__main__":
    RECORDING.write_text(json.dumps(run(), separators=(",", ":")) + "\n", encoding="utf-8")
