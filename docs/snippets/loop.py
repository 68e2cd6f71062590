"""One window of gradient accumulation in PyTorch."""

IGNORED = -100  # the label that PyTorch's cross-entropy leaves out


def train_window(model, loss_function, optimizer, micro_batches):
    """Update once; return the mean loss. loss_function sums over targets."""
    micro_batches = list(micro_batches)  # read twice: to count, to train
    counts = [int((targets != IGNORED).sum()) for _, targets in micro_batches]
    target_count = sum(counts)
    if target_count == 0:
        raise ValueError("no target in the whole window")
    window_loss = 0.0
    optimizer.zero_grad()
    for inputs, targets in micro_batches:
        loss = loss_function(model(inputs), targets) / target_count
        loss.backward()  # adds to .grad, lets the activations go
        window_loss += loss.detach()  # the number, without its graph
    optimizer.step()
    return window_loss
