"""Recipes on several processes of one machine, over gloo: each rank runs every case, and rank 0 writes down what all saw.

    python -m frameworks.ranks RANK REPLICAS PORT OUTPUT CASES

``CASES`` is JSON: a list of ``{"inputs": {...}, "samples": count, "settings": {...}}``.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parents[1]


def run(cases: list[dict[str, Any]], replicas: int = 2, timeout: float = 500.0) -> list[dict[str, Any]]:
    """Every case on so many processes: the micro-batches of each rank, and the gradient of each update.

    Errors: ``RuntimeError`` with what the first rank to fail had said; the others would wait for it for ever.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as open_files:
        output = Path(folder) / "seen.json"
        said = [Path(folder) / f"{rank}.log" for rank in range(replicas)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SCRIPTS), *sys.path]), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "frameworks.ranks"]
        arguments = [str(replicas), str(_free_port()), str(output), json.dumps(cases)]
        ranks = [
            subprocess.Popen(
                [*command, str(rank), *arguments],
                env=environment,
                cwd=folder,
                stdout=open_files.enter_context(said[rank].open("w", encoding="utf-8")),
                stderr=subprocess.STDOUT,
            )
            for rank in range(replicas)
        ]
        try:
            _wait(ranks, said, time.monotonic() + timeout)
        finally:
            for rank in ranks:
                rank.kill()
                rank.wait()
        seen: list[dict[str, Any]] = json.loads(output.read_text(encoding="utf-8"))
        return seen


def _wait(ranks: list[subprocess.Popen[bytes]], said: list[Path], end: float) -> None:
    while any(rank.poll() is None for rank in ranks):
        failed = [log for rank, log in zip(ranks, said, strict=True) if rank.returncode]
        if failed or time.monotonic() > end:
            raise RuntimeError("\n".join(log.read_text(encoding="utf-8") for log in failed or said))
        time.sleep(0.2)
    if failed := [log for rank, log in zip(ranks, said, strict=True) if rank.returncode]:
        raise RuntimeError(failed[0].read_text(encoding="utf-8"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _one_rank(rank: int, replicas: int, port: int, output: Path, cases: list[dict[str, Any]]) -> None:
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(replicas), "LOCAL_WORLD_SIZE": str(replicas)}
    os.environ |= {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RUN_ID": "recipes",
        "DS_ACCELERATOR": "cpu",
        "ACCELERATE_USE_CPU": "true",
    }

    import torch.distributed as dist  # noqa: PLC0415 - only here, where the environment is set

    from frameworks import running, tiny  # noqa: PLC0415 - likewise

    dist.init_process_group("gloo")
    seen = []
    for case in cases:
        for name, text in running.files(**case["inputs"]).items():
            if name.endswith(".json"):
                Path(f"{rank}-{name}").write_text(text, encoding="utf-8")
        settings = {
            key: value.replace("RANK", str(rank)) if isinstance(value, str) else value
            for key, value in case["settings"].items()
        }
        found = running.run_torch(case["inputs"], tiny.samples(case["samples"]), **settings)
        everyone: list[Any] = [None] * replicas
        dist.all_gather_object(everyone, found["micro_batches"])
        seen.append({"micro_batches": everyone, "gradients": [g.tolist() for g in found["gradients"]], "calls": found["calls"]})
    if rank == 0:
        output.write_text(json.dumps(seen), encoding="utf-8")
    dist.barrier()
    with contextlib.suppress(Exception):
        dist.destroy_process_group()


if __name__ == "__main__":
    _one_rank(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), json.loads(sys.argv[5]))
