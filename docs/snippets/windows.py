"""Windows of at most a micro-batches: the last one is as short as what is left."""

from itertools import islice


def windows(loader, accumulation_steps):
    micro_batches = iter(loader)
    while window := list(islice(micro_batches, accumulation_steps)):
        yield window  # divide by len(window), or by its targets


def updates_per_epoch(micro_batches, accumulation_steps):
    """What a schedule must be built for: rounded up, since the short window is stepped too."""
    return -(-micro_batches // accumulation_steps)
