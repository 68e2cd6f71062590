"""Batch normalisation that no longer looks at the batch: exact under accumulation."""

import torch

BATCH_NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d, torch.nn.SyncBatchNorm)


def freeze_batch_norm(model):
    """Call after model.train(), which switches it on again."""
    for module in model.modules():
        if isinstance(module, BATCH_NORMS):
            module.eval()  # running statistics, not those of the micro-batch


@torch.no_grad()
def measure_statistics(model, batches):
    """After training: running statistics from scratch, every batch with the same weight."""
    layers = [m for m in model.modules() if isinstance(m, BATCH_NORMS)]
    momenta = {layer: layer.momentum for layer in layers}
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # a plain average instead of a moving one
        layer.train()
    for inputs in batches:
        model(inputs)
    for layer in layers:
        layer.momentum = momenta[layer]
