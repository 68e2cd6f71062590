"""What the calculator and the dry run say about a measured model, asked like any reader asks."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from gradaccum.api import answer
from gradaccum.torch import dry_run

# What a CPU keeps in a pure precision shows without CUDA's paths; what a GPU keeps does not.
ENGINE = {"cpu": "meta", "cuda": "auto"}


def prediction(config: dict[str, Any], length: int, micro_batch: int, **inputs: Any) -> dict[str, Any]:
    """The outputs of `training_memory`; a refusal is an error here."""
    request = {"config": config, "sequence_length": length, "micro_batch": micro_batch, **inputs}
    response = answer({"calculator": "training_memory", "inputs": request, "language": "en"})
    if not response["ok"]:
        raise ValueError(f"training_memory refused {request}: {response['errors']}")
    outputs: dict[str, Any] = response["outputs"]
    return outputs


def traced_slope(config: dict[str, Any], length: int, kind: str, **inputs: Any) -> int | None:
    """Bytes of one more sample as the dry run finds them; nothing where this machine cannot make one, and why on the side."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        response = dry_run(str(path), micro_batch=2, sequence_length=length, device=ENGINE[kind], **inputs)
    if not response["ok"]:
        print(f"no dry run: {response['errors']}", file=sys.stderr)
        return None
    slope: int = response["outputs"]["activation_per_sample"]
    return slope
