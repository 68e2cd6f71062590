"""Adding up losses and calling backward once keeps every graph of the window alive."""

from __future__ import annotations


def graph_memory(micro_batch: int, activation_per_sample: int, per_graph: int) -> int:
    """What one graph keeps: c + b A bytes.

    >>> graph_memory(8, 2304, 49152)
    67584
    """
    return per_graph + micro_batch * activation_per_sample


def summed_memory(accumulation_steps: int, micro_batch: int, activation_per_sample: int, per_graph: int) -> int:
    """What is alive before the one backward pass over the sum of the losses: a (c + b A) bytes.

    >>> summed_memory(16, 8, 2304, 49152)
    1081344
    """
    return accumulation_steps * graph_memory(micro_batch, activation_per_sample, per_graph)
