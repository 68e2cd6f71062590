"""A contrastive loss over the whole batch with the activations of one micro-batch: two passes (GradCache)."""

import torch


def contrastive_window(model, loss_function, micro_batches):
    """Gradients as if the batch had gone through at once. loss_function sees all embeddings."""
    with torch.no_grad():  # first pass: embeddings only, no graph
        embeddings = torch.cat([model(inputs) for inputs in micro_batches])
    embeddings.requires_grad_()
    loss = loss_function(embeddings)
    loss.backward()  # how the loss changes with each embedding
    slopes = embeddings.grad.split([len(inputs) for inputs in micro_batches])
    for inputs, slope in zip(micro_batches, slopes, strict=True):
        model(inputs).backward(slope)  # second pass: one graph at a time
    return loss.detach()
