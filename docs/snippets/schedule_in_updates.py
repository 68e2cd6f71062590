"""A schedule counted in updates: built for them, stepped by them."""

import torch


def linear_schedule(optimizer, micro_batches, accumulation_steps, epochs, warmup_updates):
    updates = -(-micro_batches // accumulation_steps) * epochs

    def part_of_peak(update):
        if update < warmup_updates:
            return update / warmup_updates
        return max(0.0, (updates - update) / (updates - warmup_updates))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, part_of_peak)  # .step() beside optimizer.step()
