"""What belongs beside optimizer.step(): the average of the weights, and nothing of it in between."""

from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


def averaged(model, decay):
    return AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay))


def after_last_micro_batch(model, average, optimizer):
    optimizer.step()  # AdamW decays the weights here, once
    average.update_parameters(model)  # moves once
    optimizer.zero_grad()
