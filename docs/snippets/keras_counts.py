"""Keras: the optimizer accumulates, and everything else counts micro-batches."""

import keras


def optimizer_for(peak, updates, accumulation_steps):
    schedule = keras.optimizers.schedules.CosineDecay(peak, decay_steps=updates * accumulation_steps)
    return keras.optimizers.SGD(schedule, gradient_accumulation_steps=accumulation_steps, global_clipnorm=1.0)


class AveragePerUpdate(keras.callbacks.Callback):
    """In the place of use_ema=True, which moves the average with every micro-batch."""

    def __init__(self, decay):
        super().__init__()
        self.decay, self.average, self.seen = decay, None, 0

    def on_train_batch_end(self, _, logs=None):  # noqa: ARG002
        updates = int(self.model.optimizer.iterations)
        if updates == self.seen:
            return
        self.seen, weights = updates, self.model.get_weights()
        if self.average is None:
            self.average = weights
        self.average = [self.decay * old + (1 - self.decay) * new for old, new in zip(self.average, weights, strict=True)]
