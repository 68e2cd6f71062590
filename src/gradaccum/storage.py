"""Bytes of weights, gradients and optimizer state, and what one optimizer step needs on top."""

from __future__ import annotations

import math
from itertools import pairwise

from gradaccum.graph import BYTES, Counted
from gradaccum.layout import Dims

OPTIMIZERS = ("adamw", "adamw-8bit", "sgd", "sgd-momentum", "adafactor")
NF4_BLOCK, NF4_GROUP, NF4_CODE, GROUP_CODE = 64, 256, 16, 256
EIGHT_BIT_BLOCK, EIGHT_BIT_LEAST = 256, 4096


def nf4_bytes(count: int) -> int:
    """A matrix in NF4 with double quantization: half a byte a weight, and its constants.

    ceil(n/2) + ceil(n/64) (a byte for each block's maximum) + 4 ceil(ceil(n/64)/256) (fp32 maxima of those) + the two code
    tables and the offset.
    Source: bitsandbytes, ``quantize_4bit`` with ``compress_statistics``; https://arxiv.org/abs/2305.14314, section 3.

    >>> nf4_bytes(4096 * 4096)
    8655940
    """
    blocks = -(-count // NF4_BLOCK)
    return -(-count // 2) + blocks + 4 * -(-blocks // NF4_GROUP) + 4 * (NF4_CODE + GROUP_CODE) + 4


def weight_bytes(parameters: Counted) -> int:
    """Bytes of all weights, adapters included."""
    return sum((nf4_bytes(p.count) if p.quantized else p.count * BYTES[p.dtype]) * times for p, times in parameters)


def gradient_bytes(parameters: Counted) -> int:
    """One buffer as large as the trainable weights, in their dtype."""
    return sum(p.count * BYTES[p.dtype] * times for p, times in parameters if p.trainable)


def optimizer_bytes(parameters: Counted, optimizer: str) -> int:
    """State of all trainable weights; step counters are not counted.

    adamw: two moments in the weights' dtype. sgd-momentum: one. sgd: none. adamw-8bit: a byte for each moment and an fp32
    maximum for each block of 256 (bitsandbytes; tensors under 4,096 weights stay in fp32). adafactor: a row and a column of
    fp32, or a vector's own length (https://arxiv.org/abs/1804.04235; without momentum, as in Transformers).
    """
    return sum(_state(p.shape, BYTES[p.dtype], optimizer) * times for p, times in parameters if p.trainable)


def _state(shape: Dims, item: int, optimizer: str) -> int:
    count = math.prod(shape)
    match optimizer:
        case "adamw":
            return 2 * count * item
        case "sgd-momentum":
            return count * item
        case "adamw-8bit":
            return 2 * 4 * count if count < EIGHT_BIT_LEAST else 2 * (count + 4 * -(-count // EIGHT_BIT_BLOCK))
        case "adafactor":
            return 4 * count if len(shape) < 2 else 4 * (count // shape[-1] + count // shape[-2])
        case _:
            return 0


def step_bytes(parameters: Counted, optimizer: str, *, foreach: bool) -> int:
    """Temporaries of one optimizer step.

    adamw with ``foreach`` copies all trainable weights once (``_foreach_sqrt``). Without it a tensor needs two copies of its
    own, while the last copy of the tensor before it is still held by its name: the largest 2 n_i + n_(i-1).
    adafactor works on one tensor at a time, in fp32: two copies, and two more of weights that are not fp32 themselves.
    The others update in place. Source: torch.optim of PyTorch 2.13, ``Adafactor.step`` of Transformers 5.24.
    """
    trainable = [p for p, _ in parameters if p.trainable]
    largest = max(trainable, key=lambda p: p.count * BYTES[p.dtype], default=None)
    if largest is None:
        return 0
    if optimizer == "adamw":
        sizes = [p.count * BYTES[p.dtype] for p in trainable]
        return gradient_bytes(parameters) if foreach else max(2 * n + before for before, n in pairwise([0, *sizes]))
    if optimizer == "adafactor":
        return 4 * largest.count * (2 if largest.dtype == "fp32" else 4)
    return 0
