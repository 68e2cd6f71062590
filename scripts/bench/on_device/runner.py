"""Runs the claims one after the other; what one of them meets, the others and the result file survive."""

import traceback
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from bench.claims import CLAIMS

from . import gradients, memory, mixing, peaks, ranks, speed
from .bench import Bench

Found = dict[str, Any]
MEASUREMENTS: dict[str, Callable[[Bench, Found], None]] = {
    "gradient_fp64": gradients.fp64,
    "gradient_fp32": gradients.fp32,
    "gradient_bf16": gradients.bf16,
    "optimizer_update": gradients.optimizer_update,
    "token_counts": gradients.token_counts,
    "batch_norm": mixing.batch_norm,
    "dropout": gradients.dropout,
    "clipping": gradients.clipping,
    "contrastive": mixing.contrastive,
    "bf16_buffer": gradients.bf16_buffer,
    "flat_peak": memory.flat_peak,
    "one_buffer": memory.one_buffer,
    "summed_losses": memory.summed_losses,
    "affine_in_b": memory.affine_in_b,
    "predicted_peaks": peaks.predicted_peaks,
    "throughput": speed.throughput,
    "effective_batch": ranks.effective_batch,
    "one_all_reduce": ranks.one_all_reduce,
    "misplaced_no_sync": ranks.misplaced_no_sync,
    "fsdp2_deferred": ranks.fsdp2_deferred,
    "token_counts_ranks": ranks.token_counts_ranks,
}
Note = Callable[[str, Found, Found | None], None]


def run(bench: Bench, names: list[str], note: Note) -> None:
    """Measure each claim and hand its figures to `note`, which only the first rank listens to."""
    for name in names:
        if CLAIMS[name].ranks > bench.ranks:
            note(name, {}, {"reason": "ranks"})
            continue
        together = CLAIMS[name].ranks > 1
        if together or bench.rank == 0:
            found: Found = {}
            try:
                stopped = measure(bench, name, found)
            except KeyboardInterrupt:
                note(name, found, {"reason": "interrupted"})
                raise
            note(name, found, stopped)
            if together and stopped is not None:
                # The other ranks wait in a collective that this one has left; nothing more can be measured together.
                raise SystemExit(f"{name} stopped on rank {bench.rank}: {stopped}")
        if bench.ranks > 1:
            dist.barrier()


def measure(bench: Bench, name: str, found: Found) -> Found | None:
    """Fill `found`; what is given back says why it may not be full."""
    try:
        MEASUREMENTS[name](bench, found)
    except torch.OutOfMemoryError as error:
        return {"reason": "out_of_memory", "message": first_sentence(error)}
    except ModuleNotFoundError as error:
        return {"reason": "package", "message": str(error.name)}
    except Exception as error:  # noqa: BLE001 - whatever one claim meets, the others are still worth measuring
        traceback.print_exc()
        return {"reason": "error", "message": f"{type(error).__name__}: {first_sentence(error)}"}
    return None


def first_sentence(error: BaseException) -> str:
    """What PyTorch says before its advice."""
    return str(error).partition(". ")[0].partition("\n")[0]
