"""Measure every claim of the site on this machine, and write the figures and a verdict for each into a result file.

    python scripts/benchmark.py                        the GPU if there is one, else the CPU; one process
    torchrun --nproc-per-node 2 scripts/benchmark.py   two ranks: adds what needs several replicas
    torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500 scripts/benchmark.py
                                                       two nodes of eight GPUs: the same command on each of them

Needs torch, and transformers for the claims about memory; peft for the rows with adapters.
The file is written anew after each claim: a run that is interrupted, or that runs out of memory, loses nothing it measured.
Exit status: 0 when no claim fails, 1 when one does, 130 when the run was interrupted.
"""

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any

from bench import results, table
from bench.claims import CLAIMS
from bench.plots import write_plots
from gradaccum.units import read_size

FOLDER = Path(__file__).resolve().parent.parent / "build" / "benchmark"


def main() -> None:
    """Run the command line."""
    arguments = parse()
    try:
        import torch  # noqa: PLC0415 - what to install is said in words, not in a traceback
    except ModuleNotFoundError:
        raise SystemExit("The benchmark needs PyTorch: pip install torch transformers peft") from None
    import torch.distributed as dist  # noqa: PLC0415 - see above

    from bench.on_device.bench import Bench  # noqa: PLC0415 - these import torch
    from bench.on_device.devices import DEVICES  # noqa: PLC0415 - likewise

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    kind = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    device = DEVICES[kind](arguments.memory_limit)
    ranks, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    if ranks > 1:
        dist.init_process_group(device.backend)
    try:
        bench = Bench(device, "cuda" if arguments.rehearse else kind, arguments.broken or "", ranks, rank)
        sys.exit(measure_all(bench, arguments))
    finally:
        if ranks > 1:
            dist.destroy_process_group()


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), help="what to measure on (default: a GPU if there is one)")
    parser.add_argument("--only", nargs="+", metavar="CLAIM", choices=CLAIMS, help=f"among {', '.join(CLAIMS)}")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the result file goes (default: build/benchmark)")
    parser.add_argument("--language", choices=("en", "ar"), default="en", help="of the table and the plots")
    parser.add_argument("--memory-limit", type=size, metavar="SIZE", help="behave like a device of this size, such as 8GiB")
    parser.add_argument("--rehearse", action="store_true", help="on a CPU, take the configurations of a GPU, made small")
    parser.add_argument("--break", dest="broken", choices=results.BREAKS, help="do it wrong, to see the verdicts turn")
    return parser.parse_args()


def size(text: str) -> int:
    """A size with its unit, in bytes."""
    return read_size(text, "memory_limit")


def begin(bench: Any, arguments: argparse.Namespace) -> results.Document:
    """The document of this run, before anything is measured."""
    processes = {
        "ranks": bench.ranks,
        "nodes": bench.ranks // int(os.environ.get("LOCAL_WORLD_SIZE", "1")),
        "backend": bench.device.backend if bench.ranks > 1 else None,
    }
    settings = {
        "llama": bench.config(),
        "sequence_length": bench.length,
        **{name: getattr(arguments, name) for name in results.ALTERED},
    }
    model = "llama-small" if bench.size == "cuda" else "llama-tiny"
    return results.begin(model, bench.device.describe(), processes, settings)


def measure_all(bench: Any, arguments: argparse.Namespace) -> int:
    """Measure, write, print; give the exit status back."""
    from bench.on_device import runner  # noqa: PLC0415 - imports torch

    document = begin(bench, arguments)
    path = arguments.folder / results.file_name(document)

    def note(name: str, found: results.Document, stopped: results.Document | None) -> None:
        if bench.rank == 0:
            results.note(document, name, found, stopped=stopped)
            results.save(document, path)
            print(table.line(name, document, arguments.language), flush=True)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        runner.run(bench, arguments.only or list(CLAIMS), note)
        document["state"] = "complete"
    except KeyboardInterrupt:
        return 130
    finally:
        if document["state"] == "running":
            document["state"] = "interrupted"
        if bench.rank == 0:
            results.save(document, path)
            write_plots(document, path, arguments.language)
            print(table.whole(document, arguments.language), path, sep="\n", flush=True)
    return int(any(entry["verdict"] == "fails" for entry in document["claims"].values()))


def interrupt(*_: object) -> None:
    """Ctrl-C, or torchrun ending its ranks: leave through `finally`, with what was measured."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
