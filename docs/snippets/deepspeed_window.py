"""DeepSpeed: the engine divides by the steps and updates when its own count says so, unless it is told both."""

import torch.distributed as dist


def settings(micro_batch, accumulation_steps, replicas, max_norm):
    return {
        "train_batch_size": micro_batch * accumulation_steps * replicas,  # exactly the product, or it stops
        "train_micro_batch_size_per_gpu": micro_batch,
        "gradient_accumulation_steps": accumulation_steps,
        "gradient_clipping": max_norm,  # once per update; 1.0 where nothing is said
    }


def train_window(engine, summed_loss, micro_batches):
    """micro_batches: what one window holds, a full one or the last of an epoch."""
    targets = sum((labels != -100).sum() for _, labels in micro_batches)
    dist.all_reduce(targets)  # over all ranks
    for index, (inputs, labels) in enumerate(micro_batches, start=1):
        engine.set_gradient_accumulation_boundary(index == len(micro_batches))  # a short window steps too
        loss = summed_loss(engine(inputs), labels) * dist.get_world_size() / targets
        engine.backward(loss, scale_wrt_gas=False)  # or the steps divide it a second time
        engine.step()  # clips, updates, clears and moves its scheduler at the boundary, and not before
