"""DeepSpeed's engine with one rank on the CPU: the snippet's window, the engine left alone, and a batch that does not come out."""

import json
import os
import sys

import torch
from test_framework_snippets import COUNTS, WINDOWS, Still, model, snippet, summed_loss, whole_gradient

from frameworks import probes, running

WINDOW = snippet("deepspeed_window")


def engine_of(max_norm=0.0):
    """An engine over a model that stays as it is, its optimizer, and a schedule that counts its steps."""
    net = model().float()  # it reduces no float64
    optimizer = Still(net.parameters())
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    config = WINDOW.settings(1, len(COUNTS[0]), 1, max_norm)
    engine, *_ = deepspeed.initialize(model=net, optimizer=optimizer, lr_scheduler=schedule, config=config)
    return engine, optimizer, schedule


def error(found, expected):
    return float((found - expected).norm() / expected.norm())


def shortened(gradient, limit):
    return gradient * min(1.0, limit / float(gradient.norm())) if limit else gradient


def windows(limit):
    engine, optimizer, schedule = engine_of(limit)
    for batches in WINDOWS:
        WINDOW.train_window(engine, summed_loss, batches)
    expected = [shortened(whole_gradient(batches), limit) for batches in WINDOWS]
    errors = [error(*pair) for pair in zip(optimizer.seen, expected, strict=True)]
    return {"updates": len(optimizer.seen), "schedule": schedule.last_epoch, "errors": errors}


def alone():
    """Nothing said of boundary or division: what the engine does by itself."""
    engine, optimizer, schedule = engine_of()
    at_boundary = []
    for inputs, labels in WINDOWS[0] + WINDOWS[1]:
        engine.backward(summed_loss(engine(inputs), labels))
        at_boundary.append(engine.is_gradient_accumulation_boundary())
        engine.step()
    divided = whole_gradient(WINDOWS[0]) * sum(COUNTS[0]) / len(COUNTS[0])
    found = {"updates": len(optimizer.seen), "schedule": schedule.last_epoch, "error": error(optimizer.seen[0], divided)}
    return found | {"at_boundary": at_boundary}


def refused():
    """A configuration for eight ranks, of which there is one."""
    net = model().float()
    try:
        deepspeed.initialize(model=net, optimizer=Still(net.parameters()), config=WINDOW.settings(4, 8, 8, 1.0))
    except AssertionError as complaint:
        return str(complaint)
    return ""


if __name__ == "__main__":
    os.environ |= probes.ONE_RANK | {"DS_ACCELERATOR": "cpu"}
    running.skip_shared_memory()
    import deepspeed

    torch.distributed.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    half = float(whole_gradient(WINDOWS[0]).norm()) / 2
    seen = {"none": windows(0.0), "half": windows(half), "alone": alone(), "refused": refused()}
    torch.distributed.destroy_process_group()
    json.dump(seen, sys.stdout)
