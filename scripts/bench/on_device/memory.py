"""Claims about the memory of a window: flat in a, affine in b, one gradient buffer."""

from typing import Any

import torch
from torch import nn

from gradaccum.torch.saved import saved_bytes

from .bench import Bench
from .models import llama, rows
from .predictions import prediction, traced_slope
from .window import accumulate

Found = dict[str, Any]
# Activations must outweigh the optimizer's temporaries, or the peak lies in its step and no buffer is seen to come.
PRECISION = {"cpu": ("fp32", torch.float32), "cuda": ("bf16", torch.bfloat16)}
BATCH = {"cpu": 8, "cuda": 4}
STEPS = (1, 2, 4, 8, 16, 32, 64)


def _model(bench: Bench) -> nn.Module:
    return llama(bench.config(), bench.torch, PRECISION[bench.size][1], bench.device.attention)


def _update(bench: Bench, model: nn.Module, size: int, steps: int, broken: str = "") -> None:
    batches = (rows(bench.config(), bench.torch, size, bench.length, seed) for seed in range(steps))
    accumulate(lambda batch: model(**batch).loss, batches, steps, list(model.parameters()), broken)


def steady_peak(bench: Bench, size: int, steps: int, broken: str = "") -> dict[str, int | None]:
    """The peak of an update with the optimizer state present, which the first one has not."""
    with bench.device.meter() as meter:
        model = _model(bench)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
        for _ in range(2):
            meter.restart()
            _update(bench, model, size, steps, broken)
            optimizer.step()
        return {"peak": meter.peak, "reserved": meter.reserved}


def flat_peak(bench: Bench, found: Found) -> None:
    """The peak for ever more accumulation steps."""
    found["micro_batch"], found["points"] = BATCH[bench.size], []
    for steps in STEPS:
        peak = steady_peak(bench, BATCH[bench.size], steps, bench.broken)
        found["points"].append({"accumulation_steps": steps, **peak})


def one_buffer(bench: Bench, found: Found) -> None:
    """The peaks with one accumulation step and with two."""
    found["micro_batch"] = BATCH[bench.size]
    found["gradient_bytes"] = sum(parameter.nbytes for parameter in _model(bench).parameters())
    found["peak_one"] = steady_peak(bench, BATCH[bench.size], 1, bench.broken)["peak"]
    found["peak_two"] = steady_peak(bench, BATCH[bench.size], 2, bench.broken)["peak"]


def summed_losses(bench: Bench, found: Found) -> None:
    """The wrong loop: losses added up, one backward pass at the end."""
    size = BATCH[bench.size]
    found["micro_batch"] = size
    found["activations"] = _saved(bench, size)
    found["points"] = []
    for steps in (2, 3, 4):
        found["points"].append({"accumulation_steps": steps, **steady_peak(bench, size, steps, "summing")})


def _saved(bench: Bench, size: int) -> int:
    """What autograd keeps for one micro-batch, each storage once, parameters left out."""
    model = _model(bench)
    batch = rows(bench.config(), bench.torch, size, bench.length, 0)
    return saved_bytes(model, lambda: model(**batch).loss)[0]


def affine_in_b(bench: Bench, found: Found) -> None:
    """Saved bytes and peaks for growing micro-batches, and the slopes that the calculator's ledger and the dry run say."""
    setting = {"precision": PRECISION[bench.size][0], "attention": bench.device.attention, "accumulation_steps": 2}
    said = prediction(bench.config(), bench.length, 2, **setting)
    found["ledger_slope"] = said["activation_per_sample"]
    found["dry_run_slope"] = traced_slope(bench.config(), bench.length, bench.size, **setting)
    found["points"] = []
    # From two on: one sample alone may be laid out otherwise.
    for size in (2, 3, 4, 6, 8):
        point = {"micro_batch": size, "saved": _saved(bench, size), **steady_peak(bench, size, 2, bench.broken)}
        point["predicted"] = prediction(bench.config(), bench.length, size, **setting)["peak"]
        found["points"].append(point)
