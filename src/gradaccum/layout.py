"""Shapes and strides: when an operation copies, and when it only looks at the same memory in another way."""

from __future__ import annotations

import math
from functools import lru_cache

Dims = tuple[int, ...]


@lru_cache(maxsize=4096)
def contiguous_strides(shape: Dims) -> Dims:
    """Strides, in elements, of a freshly allocated tensor.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


@lru_cache(maxsize=4096)
def fresh_layout(shape: Dims) -> tuple[int, Dims]:
    """How many elements a freshly allocated tensor has, and its strides.

    >>> fresh_layout((2, 3, 4))
    (24, (12, 4, 1))
    """
    return math.prod(shape), contiguous_strides(shape)


@lru_cache(maxsize=4096)
def is_contiguous(shape: Dims, strides: Dims) -> bool:
    """Whether a tensor lies in memory as a fresh one of its shape would; dimensions of one element do not count."""
    wanted = contiguous_strides(shape)
    return all(size == 1 or stride == want for size, stride, want in zip(shape, strides, wanted, strict=True))


@lru_cache(maxsize=4096)
def elementwise_strides(shape: Dims, first: Dims) -> Dims:
    """Strides of an elementwise result: dense, in the order of dimensions of the first operand.

    >>> elementwise_strides((2, 5, 3, 4), (60, 4, 20, 1))
    (60, 4, 20, 1)
    """
    order = sorted(range(len(shape)), key=lambda d: (-first[d], d))
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= shape[d]
    return tuple(strides)


@lru_cache(maxsize=4096)
def broadcast(first: Dims, second: Dims) -> Dims:
    """The common shape of two operands.

    >>> broadcast((2, 1, 4), (3, 1))
    (2, 3, 4)
    """
    length = max(len(first), len(second))
    pairs = zip((1,) * (length - len(first)) + first, (1,) * (length - len(second)) + second, strict=True)
    return tuple(max(pair) for pair in pairs)


@lru_cache(maxsize=4096)
def viewed_strides(shape: Dims, strides: Dims, wanted: Dims) -> Dims | None:
    """Strides that show the same memory in the wanted shape, or None when that takes a copy.

    Source: the rule of ``torch.Tensor.view``: dimensions are split and merged only where they lie side by side.

    >>> viewed_strides((2, 3, 4), (12, 4, 1), (6, 4)), viewed_strides((2, 3, 4), (4, 8, 1), (6, 4))
    ((4, 1), None)
    """
    if math.prod(shape) != math.prod(wanted):
        raise ValueError(f"{shape} holds another number of elements than {wanted}")
    groups: list[tuple[int, int]] = []  # (elements, innermost stride) of runs that lie side by side
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if groups and groups[-1][1] == size * stride:
            groups[-1] = (groups[-1][0] * size, stride)
        else:
            groups.append((size, stride))
    result: list[int] = []
    left, step = groups.pop() if groups else (1, 1)
    for size in reversed(wanted):
        if size != 1 and left == 1 and groups:
            left, step = groups.pop()
        if size == 1:
            result.append(step)
            continue
        if left % size:
            return None
        result.append(step)
        left //= size
        step *= size
    return tuple(reversed(result))
