"""The loss of each micro-batch divided once, by what the window really holds."""


def train_window(model, mean_loss, optimizer, micro_batches):
    """Right where every micro-batch holds equally many targets."""
    micro_batches = list(micro_batches)
    optimizer.zero_grad()  # once, before the window
    for inputs, targets in micro_batches:
        loss = mean_loss(model(inputs), targets) / len(micro_batches)
        loss.backward()
    optimizer.step()  # once, after it
