"""One of two processes: how many reductions DDP makes in a window, by what no_sync is wrapped around.

Run as ``python two_processes.py RANK FOLDER``; prints the counts as JSON.
"""

import json
import sys
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = 4


def reductions(wrap):
    """Run one window of micro-batches and count."""
    model = DistributedDataParallel(nn.Linear(3, 2))
    made = []

    def count(_, bucket):
        made.append(bucket.index())
        reduced = dist.all_reduce(bucket.buffer(), async_op=True)
        return reduced.get_future().then(lambda done: done.value()[0])

    model.register_comm_hook(None, count)
    for index in range(STEPS):
        quiet = model.no_sync if index < STEPS - 1 else nullcontext
        with quiet() if wrap == "both" else nullcontext():
            loss = model(torch.ones(1, 3)).sum()
            with quiet() if wrap == "backward" else nullcontext():
                loss.backward()
    return len(made)


if __name__ == "__main__":
    rank, folder = int(sys.argv[1]), sys.argv[2]
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2)
    sys.stdout.write(json.dumps({wrap: reductions(wrap) for wrap in ("none", "backward", "both")}))
    dist.destroy_process_group()
