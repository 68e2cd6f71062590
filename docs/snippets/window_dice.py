"""A Dice loss over the whole window: its sums first, its gradient second."""

import torch


def dice_window(model, micro_batches):
    """Gradients of 1 - 2 I / (P + T), with the sums taken over all micro-batches."""
    with torch.no_grad():  # first pass: three numbers
        sums = sum(torch.stack(dice_sums(model(x), mask)) for x, mask in micro_batches)
    overlap, predicted, target = sums
    for inputs, mask in micro_batches:
        own_overlap, own_predicted, _ = dice_sums(model(inputs), mask)
        # The derivative of the quotient, with the window's sums in it, is linear in the micro-batch's own.
        whole = predicted + target
        (-2 * own_overlap / whole + 2 * overlap / whole**2 * own_predicted).backward()
    return 1 - 2 * overlap / (predicted + target)


def dice_sums(logits, mask):
    chance = logits.sigmoid()
    return (chance * mask).sum(), chance.sum(), mask.sum()
