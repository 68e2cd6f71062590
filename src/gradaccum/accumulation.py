"""The heart: E = b * a * g and M = b * A, and the ways to turn them round.

Symbols: b micro-batch (samples one replica takes through one forward and backward pass), a accumulation steps (micro-batches
per update), g data-parallel replicas, A activation bytes of one sample, E effective batch, M peak activation memory of one
device.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gradaccum.errors import InputError
from gradaccum.units import read_count, read_size

PARALLEL_DEGREES = ("tensor_parallel", "pipeline_parallel", "context_parallel", "sequence_parallel")
SPLIT = ("effective_batch", "micro_batch", "accumulation_steps", "replicas")


def effective_batch(micro_batch: int, accumulation_steps: int, replicas: int = 1) -> int:
    """Samples that contribute to one optimizer step, over all replicas.

    E = b * a * g, in samples. All arguments are counts >= 1.
    Errors: ``InputError`` for anything else. Source: definition; https://arxiv.org/abs/1706.02677, section 2.
    Does not include: tokens per sample, packing, padding.

    >>> effective_batch(4, 8), effective_batch(4, 8, 4)
    (32, 128)
    """
    b = read_count(micro_batch, "micro_batch")
    a = read_count(accumulation_steps, "accumulation_steps")
    return b * a * read_count(replicas, "replicas")


def activation_memory(micro_batch: int, activation_per_sample: int) -> int:
    """Peak activation memory of one device: that of one micro-batch, whatever a and g are.

    M = b * A, in bytes. ``micro_batch``: count; ``activation_per_sample``: bytes.
    Errors: ``InputError``. Source: each backward pass frees what its forward pass kept, so only one micro-batch is alive;
    tests/verify counts it with ``torch.autograd.graph.saved_tensors_hooks``.
    Does not include: weights, gradients, optimizer state, temporaries, bytes that are kept once whatever b is.

    >>> activation_memory(4, 500_000_000)
    2000000000
    """
    return read_count(micro_batch, "micro_batch") * read_size(activation_per_sample, "activation_per_sample")


def whole_batch_activation_memory(micro_batch: int, accumulation_steps: int, activation_per_sample: int) -> int:
    """What one device would hold if it took its share of the effective batch through one pass, without accumulation.

    b * a * A, in bytes. Errors: ``InputError``. Source: M = b * A with a micro-batch of b * a.

    >>> whole_batch_activation_memory(4, 8, 500_000_000)
    16000000000
    """
    a = read_count(accumulation_steps, "accumulation_steps")
    return a * activation_memory(micro_batch, activation_per_sample)


def data_parallel_replicas(
    world_size: int,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    context_parallel: int = 1,
    sequence_parallel: int = 1,
) -> int:
    """Replicas among which samples are shared out: devices that hold parts of one model count once.

    g = world / (tp * pp * cp * sp), a count.
    Errors: ``not_divisible`` at ``world_size``. Source: DeepSpeed and Transformers divide the world the same way
    (``get_total_train_batch_size`` in transformers.Trainer).
    Does not include: expert parallelism, which reuses the data-parallel devices.

    >>> data_parallel_replicas(64, tensor_parallel=8, pipeline_parallel=4)
    2
    """
    world = read_count(world_size, "world_size")
    degrees = (tensor_parallel, pipeline_parallel, context_parallel, sequence_parallel)
    product = math.prod(read_count(degree, name) for name, degree in zip(PARALLEL_DEGREES, degrees, strict=True))
    replicas, rest = divmod(world, product)
    if rest:
        raise InputError("world_size", "not_divisible", "world", value=world, world=world, product=product)
    return replicas


def split(
    effective_batch: int | None = None,
    micro_batch: int | None = None,
    accumulation_steps: int | None = None,
    replicas: int | None = None,
) -> dict[str, int]:
    """The one of E, b, a, g that is missing, from the other three; all four, checked, when none is.

    E = b * a * g. With two missing, ``replicas`` counts as 1. All counts >= 1.
    Errors: ``missing`` when nothing can be solved for, ``not_divisible`` with ``nearest``, ``inconsistent`` with ``found``.

    >>> split(effective_batch=512, micro_batch=4, replicas=2)["accumulation_steps"]
    64
    """
    given = dict(zip(SPLIT, (effective_batch, micro_batch, accumulation_steps, replicas), strict=True))
    values = {name: read_count(value, name) for name, value in given.items() if value is not None}
    if missing := unsolved(values):
        raise InputError(missing[0], "missing", "split")
    if len(values) == 2:
        values["replicas"] = 1
    product = math.prod(values[name] for name in SPLIT[1:] if name in values)
    unknown = next((name for name in SPLIT if name not in values), None)
    if unknown == "effective_batch":
        return {"effective_batch": product, **values}
    wanted = values["effective_batch"]
    if unknown is None and product != wanted:
        raise InputError("effective_batch", "inconsistent", "split", value=wanted, found=product, **values)
    if unknown is not None:
        values[unknown], rest = divmod(wanted, product)
        if rest:
            nearest = nearest_splits(values, unknown)
            raise InputError(
                "effective_batch", "not_divisible", "split", value=wanted, nearest=nearest, wanted=wanted, product=product
            )
    return {name: values[name] for name in SPLIT}


def unsolved(given: Mapping[str, object]) -> list[str]:
    """The names of which one more must be given before ``split`` can solve for the rest; empty when it can.

    One of E, b and a can be solved for; g can be too, and counts as 1 beside another unknown.

    >>> unsolved({"effective_batch": 64, "replicas": 8}), unsolved({"effective_batch": 64, "micro_batch": 4})
    (['micro_batch', 'accumulation_steps'], [])
    """
    absent = [name for name in SPLIT[:3] if name not in given]
    return absent if len(absent) > 1 else []


def nearest_splits(values: Mapping[str, int], unknown: str) -> list[dict[str, int]]:
    """The effective batches on either side of the one that does not divide, the closest first, the smaller first in a tie.

    What was given stays: only E and the unknown vary. The lower one is left out when the unknown would be 0.

    >>> given = {"effective_batch": 128, "micro_batch": 1, "replicas": 3}
    >>> [s["effective_batch"] for s in nearest_splits(given, "accumulation_steps")]
    [129, 126]
    """
    product = math.prod(values[name] for name in SPLIT[1:] if name != unknown)
    wanted = values["effective_batch"]
    candidates = []
    for number in (wanted // product, wanted // product + 1):
        if number:
            solved = {**values, unknown: number, "effective_batch": number * product}
            candidates.append({name: solved[name] for name in SPLIT})
    return sorted(candidates, key=lambda s: (abs(s["effective_batch"] - wanted), s["effective_batch"]))
