"""Lightning: manual optimization, with a loader that yields whole windows."""

import lightning


class Windowed(lightning.LightningModule):
    automatic_optimization = False  # accumulate_grad_batches would divide by a, whatever is there

    def __init__(self, model, summed_loss, max_norm):
        super().__init__()
        self.model, self.summed_loss, self.max_norm = model, summed_loss, max_norm

    def training_step(self, window, _):
        optimizer = self.optimizers()
        targets = sum((labels != -100).sum() for _, labels in window)
        optimizer.zero_grad()
        for inputs, labels in window:  # divided by what the window really holds, the last one too
            self.manual_backward(self.summed_loss(self.model(inputs), labels) / targets)
        self.clip_gradients(optimizer, self.max_norm, "norm")  # once
        optimizer.step()
