"""The peak of one update on a CUDA device, as three different numbers."""

import torch


def peak_memory(update):
    """Call update() twice; return the peak of the second call, in bytes."""
    update()  # the first one brings the optimizer state into being
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    update()
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return {
        "allocated": torch.cuda.max_memory_allocated(),  # live tensors
        "reserved": torch.cuda.max_memory_reserved(),  # PyTorch's allocator
        "driver": total - free,  # in use now, by whatever program
    }
