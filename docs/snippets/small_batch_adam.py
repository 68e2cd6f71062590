"""AdamW for a smaller batch: the second moment remembers as many samples as before."""

import torch


def adamw_for(parameters, learning_rate, beta2, recipe_batch, batch):
    betas = (0.9, beta2 ** (batch / recipe_batch))
    return torch.optim.AdamW(parameters, lr=learning_rate, betas=betas)
