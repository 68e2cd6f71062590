"""fp16 with a loss scale: one scale for the whole window."""

import torch

MAX_NORM = 1.0


def train_window(model, mean_loss, optimizer, scaler, micro_batches):
    """True if the optimizer stepped; step the schedule only then."""
    optimizer.zero_grad()
    for inputs, targets in micro_batches:
        loss = mean_loss(model(inputs), targets) / len(micro_batches)
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)  # from here on once per window
    torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
    scaler.step(optimizer)
    scale = scaler.get_scale()
    scaler.update()
    return scaler.get_scale() >= scale
