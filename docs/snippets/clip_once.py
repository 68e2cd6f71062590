"""Clipping once, on the whole window's gradient."""

import torch


def train_window(model, mean_loss, optimizer, micro_batches, max_norm):
    optimizer.zero_grad()
    for inputs, targets in micro_batches:
        (mean_loss(model(inputs), targets) / len(micro_batches)).backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)  # after the last backward pass
    optimizer.step()
    return norm  # log it: its unit is that of the mean gradient
