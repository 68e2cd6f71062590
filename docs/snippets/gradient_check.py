"""Is one window the whole batch? Compare their gradients, not their losses."""

import torch


def gradient_of(model, run):
    """Return the gradient that run() leaves behind, as one vector."""
    model.zero_grad()
    run()
    trained = (p for p in model.parameters() if p.grad is not None)
    return torch.cat([p.grad.flatten() for p in trained]).double()


def gradient_error(model, window, whole_batch):
    """Return the length of the difference, relative to the whole batch's.

    Both are functions that run the backward passes and do not step.
    """
    right = gradient_of(model, whole_batch)
    difference = gradient_of(model, window) - right
    return float(difference.norm() / right.norm())
