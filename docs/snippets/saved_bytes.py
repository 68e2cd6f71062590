"""What autograd keeps for the backward pass, and one sample's share of it."""

import torch


def saved_bytes(model, loss_function, inputs, targets):
    """Return the bytes one forward pass keeps, without weights and buffers."""
    resident = (*model.parameters(), *model.buffers())
    skipped = {tensor.untyped_storage().data_ptr() for tensor in resident}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in skipped:
            kept[storage.data_ptr()] = storage.nbytes()  # shared: once
        return tensor.detach()  # itself, an output would never be freed

    hooks = torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept)
    with hooks:
        loss = loss_function(model(inputs), targets)
    del loss  # alive until here: no address was handed out twice
    return sum(kept.values())


def activation_per_sample(model, loss_function, smaller, larger):
    """Return A from two micro-batches (inputs, targets), in bytes."""
    more = saved_bytes(model, loss_function, *larger)
    less = saved_bytes(model, loss_function, *smaller)
    return (more - less) / (len(larger[0]) - len(smaller[0]))
