"""Data parallelism that reduces once a window: the forward pass belongs inside no_sync too."""

from contextlib import nullcontext


def backward_window(model, mean_loss, micro_batches):
    """model: DistributedDataParallel. Step after this, never inside no_sync."""
    last = len(micro_batches) - 1
    for index, (inputs, targets) in enumerate(micro_batches):
        with nullcontext() if index == last else model.no_sync():
            loss = mean_loss(model(inputs), targets) / len(micro_batches)
            loss.backward()
