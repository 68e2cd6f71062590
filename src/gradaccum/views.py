"""Operations of the tape that look at the same memory in another way, and copy it only where they must."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradaccum.graph import Rule, Tensor
from gradaccum.layout import Dims, contiguous_strides, elementwise_strides, viewed_strides
from gradaccum.operations import new_gradients
from gradaccum.tape import Tape


def view(tape: Tape, x: Tensor, shape: Dims, strides: Dims, name: str = "View") -> Tensor:
    """The same memory in another shape; its gradient is a view too."""
    before = x.shape, x.strides
    output = Tensor(shape, strides, x.dtype, x.storage)

    def rule(_: Tape, gradient: Tensor) -> list[Tensor]:
        dense = before[1] if math.prod(before[0]) == math.prod(gradient.shape) else contiguous_strides(before[0])
        strides = elementwise_strides(before[0], dense)
        return [Tensor(before[0], strides, gradient.dtype, gradient.storage, is_view=True)]

    return tape.record(name, output, [x], rule)


def part(tape: Tape, x: Tensor, dim: int, size: int) -> Tensor:
    """A slice along one dimension; its gradient is a whole tensor of zeros with the slice filled in."""
    shape = (*x.shape[:dim], size, *x.shape[dim + 1 :])
    return tape.record("Slice", Tensor(shape, x.strides, x.dtype, x.storage), [x], new_gradients(x))


def split(tape: Tape, x: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """Slices of the last dimension whose gradients are joined once."""
    outputs = [Tensor((*x.shape[:-1], size), x.strides, x.dtype, x.storage) for size in sizes]
    if x.node:
        return [tape.record("Split", output, [x], _joined(x, first=i == 0)) for i, output in enumerate(outputs)]
    return outputs


def _joined(x: Tensor, *, first: bool) -> Rule:
    spec = x.shape, x.dtype
    # The slices are nodes of their own here; the first one to be recorded is the last to run and makes the joined gradient.
    return lambda tape, _: [tape.new(*spec) if first else None]


def transpose(tape: Tape, x: Tensor, one: int, two: int) -> Tensor:
    """Two dimensions exchanged."""
    shape, strides = list(x.shape), list(x.strides)
    shape[one], shape[two] = shape[two], shape[one]
    strides[one], strides[two] = strides[two], strides[one]
    return view(tape, x, tuple(shape), tuple(strides), "Transpose")


def contiguous(tape: Tape, x: Tensor) -> Tensor:
    """A dense copy, unless it is dense already."""
    return x if x.contiguous else tape.record("Clone", tape.new(x.shape, x.dtype), [x], new_gradients(x))


def reshape(tape: Tape, x: Tensor, shape: Dims) -> Tensor:
    """Another shape; a view where memory allows, else a copy."""
    strides = viewed_strides(x.shape, x.strides, shape)
    if strides is not None:
        return view(tape, x, shape, strides)
    return tape.record("UnsafeView", tape.new(shape, x.dtype), [x], new_gradients(x))


def expand_first(tape: Tape, x: Tensor, times: int) -> Tensor:
    """One row looked at as many; its gradient is the sum over them, and that of one alone a view of the incoming one."""
    shape = (times, *x.shape[1:])
    if times == 1:
        return view(tape, x, x.shape, x.strides, "Expand")
    return tape.record("Expand", Tensor(shape, (0, *x.strides[1:]), x.dtype, x.storage), [x], new_gradients(x))


def cat(tape: Tape, parts: Sequence[Tensor], shape: Dims | None = None) -> Tensor:
    """Tensors joined along the last dimension, dense; gradients are views of the whole one."""
    whole = shape or (*parts[0].shape[:-1], sum(p.shape[-1] for p in parts))
    shapes = [(p.shape, bool(p.node)) for p in parts]

    def rule(_: Tape, gradient: Tensor) -> list[Tensor | None]:
        views = [Tensor(s, gradient.strides, gradient.dtype, gradient.storage, is_view=True) for s, _ in shapes]
        return [v if wanted else None for v, (_, wanted) in zip(views, shapes, strict=True)]

    return tape.record("Cat", tape.new(whole, parts[0].dtype), parts, rule)


def expand_heads(tape: Tape, x: Tensor, repeats: int, *, copy: bool = False) -> Tensor:
    """Each head of (b, heads, s, d) that many times.

    ``repeat_kv`` copies, except that one head alone is only looked at often; ``repeat_interleave`` always copies.
    """
    if repeats == 1:
        return x
    b, heads, s, d = x.shape
    shape = (b, heads * repeats, s, d)
    spec = x.shape, x.dtype
    rule: Rule = lambda tape, _: [tape.new(*spec)]  # noqa: E731
    if heads == 1 and not copy:
        return tape.record("Expand", Tensor(shape, (x.strides[0], 0, *x.strides[2:]), x.dtype, x.storage), [x], rule)
    return tape.record("UnsafeView", tape.new(shape, x.dtype), [x], rule)
