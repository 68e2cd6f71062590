"""Accelerate: a window of your own. Made without accumulation steps, backward() divides by nothing."""

from contextlib import nullcontext


def train_window(accelerator, model, optimizer, summed_loss, micro_batches):
    """accelerator = Accelerator(); micro_batches: what one window holds, a full one or the last."""
    targets = sum((labels != -100).sum() for _, labels in micro_batches)
    targets = accelerator.reduce(targets)  # over all ranks
    optimizer.zero_grad()
    for index, (inputs, labels) in enumerate(micro_batches):
        last = index == len(micro_batches) - 1
        with nullcontext() if last else accelerator.no_sync(model):
            loss = summed_loss(model(inputs), labels) / targets
            accelerator.backward(loss * accelerator.num_processes)  # DDP averages over ranks
    accelerator.clip_grad_norm_(model.parameters(), 1.0)  # once; takes the loss scale off first
    optimizer.step()
