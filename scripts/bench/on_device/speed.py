"""The price of accumulation: the time of an update with the same effective batch, in larger and smaller micro-batches."""

import statistics
import time
from typing import Any

import torch

from .bench import Bench
from .models import llama, rows
from .window import accumulate

Found = dict[str, Any]
BATCH = {"cpu": 16, "cuda": 32}
DTYPE = {"cpu": torch.float32, "cuda": torch.bfloat16}
ROUNDS = 7


def throughput(bench: Bench, found: Found) -> None:
    """Median and spread of the seconds of an update; sizes take turns, so that a slow moment falls on all of them."""
    batch = BATCH[bench.size]
    model = llama(bench.config(), bench.torch, DTYPE[bench.size], bench.device.attention)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    sizes = [size for size in (1, 2, 4, 8, 16, 32) if size <= batch]
    found |= {"effective_batch": batch, "rounds": ROUNDS, "points": []}
    whole = rows(bench.config(), bench.torch, batch, bench.length, 0)

    def update(size: int) -> float:
        micro_batches = [{name: rows_[i : i + size] for name, rows_ in whole.items()} for i in range(0, batch, size)]
        bench.device.synchronize()
        start = time.perf_counter()
        accumulate(lambda one: model(**one).loss, micro_batches, len(micro_batches), list(model.parameters()))
        optimizer.step()
        bench.device.synchronize()
        return time.perf_counter() - start

    reached, overflow = [], None
    for size in sizes:
        try:
            update(size)  # the first one chooses algorithms and fills the allocator
        except torch.OutOfMemoryError as error:
            overflow = error
            break
        reached.append(size)
    seconds: dict[int, list[float]] = {size: [] for size in reached}
    for _ in range(ROUNDS):
        for size in reached:
            seconds[size].append(update(size))
    for size in reached:
        low, middle, high = statistics.quantiles(seconds[size], n=4)
        point = {"micro_batch": size, "median": middle, "low": low, "high": high, "samples_per_second": batch / middle}
        found["points"].append(point)
    if overflow is not None:
        raise overflow
