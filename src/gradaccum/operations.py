"""The operations of the tape: shape and dtype of the result, what autograd keeps, which gradients the backward pass makes.

Each follows ``derivatives.yaml`` and the autocast lists of PyTorch 2.13. A tensor that is only looked at in another way
costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradaccum.layout import Dims, broadcast, contiguous_strides, elementwise_strides, viewed_strides
from gradaccum.tape import Node, Rule, Tape, Tensor, Wanted

PRECEDENCE = ("bool", "int64", "fp16", "bf16", "fp32")


def promoted(first: str, second: str) -> str:
    """Dtype of a result of two: the wider one, and fp32 where the two halves meet, of which neither holds the other.

    >>> promoted("bf16", "fp32"), promoted("bf16", "fp16"), promoted("int64", "fp16")
    ('fp32', 'fp32', 'fp16')
    """
    return "fp32" if {first, second} == {"fp16", "bf16"} else max(first, second, key=PRECEDENCE.index)


def fresh(tape: Tape, like: Tensor, dtype: str | None = None) -> Tensor:
    """A new tensor of that shape and order of dimensions."""
    return tape.new(like.shape, dtype or like.dtype, elementwise_strides(like.shape, like.strides))


def new_gradients(*inputs: Tensor) -> Rule:
    """A rule that makes a fresh gradient for every input that wants one."""
    wanted = specs(*inputs)
    return lambda tape, _: [tape.new(*spec) if spec else None for spec in wanted]


def specs(*inputs: Tensor) -> tuple[Wanted, ...]:
    """Shape and dtype of the gradient of every input that wants one."""
    return tuple([(x.shape, x.dtype) if x.node else None for x in inputs])


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


def cast(tape: Tape, x: Tensor, dtype: str) -> Tensor:
    """Another dtype; the same tensor when it has it already."""
    if x.dtype == dtype:
        return x
    return tape.record("ToCopy", fresh(tape, x, dtype), [x], new_gradients(x))


def lower(tape: Tape, x: Tensor) -> Tensor:
    """What autocast makes of an input of a matrix product; the cast of what learns is cached until autocast ends.

    That is every leaf that wants a gradient: weights, and the embedded tokens when they are made to ask for one.
    """
    if tape.autocast is None or x.dtype != "fp32":
        return x
    if not x.is_leaf:
        return cast(tape, x, tape.autocast)
    name = x.parameter.name if x.parameter else "inputs"
    held = tape.autocast_cache.get(name)
    if held is None:
        held = tape.autocast_cache[name] = cast(tape, x, tape.autocast)
    return held


def upper(tape: Tape, x: Tensor) -> Tensor:
    """What autocast makes of an input of an operation it runs in fp32."""
    return x if tape.autocast is None or x.dtype not in ("bf16", "fp16") else cast(tape, x, "fp32")


def binary(tape: Tape, name: str, a: Tensor, b: Tensor, *, keeps: bool) -> Tensor:
    """Addition (keeps nothing, passes gradients on) or multiplication (keeps each factor the other one's gradient needs)."""
    shape = broadcast(a.shape, b.shape)
    dtype = promoted(a.dtype, b.dtype)
    full = a if a.shape == shape else b
    output = tape.new(shape, dtype, elementwise_strides(shape, full.strides) if full.shape == shape else None)
    wanted = specs(a, b)
    if keeps:
        # Both gradients have the result's shape and dtype at first.
        rule: Rule = lambda tape, _: [tape.new(shape, dtype) if spec else None for spec in wanted]  # noqa: E731
        output = tape.record(name, output, [a, b], rule, {"self": kept_if(a, b), "other": kept_if(b, a)})
    else:
        output = tape.record(name, output, [a, b], lambda _, gradient: [gradient if spec else None for spec in wanted])
    return settled(output, wanted)


def settled(output: Tensor, wanted: tuple[Wanted, ...]) -> Tensor:
    """Say what the gradients must come to where the rule makes them in the result's shape and dtype."""
    if isinstance(output.node, Node):
        output.node.wanted = wanted
    return output


def expand_first(tape: Tape, x: Tensor, times: int) -> Tensor:
    """One row looked at as many; its gradient is the sum over them, and that of one alone a view of the incoming one."""
    shape = (times, *x.shape[1:])
    if times == 1:
        return view(tape, x, x.shape, x.strides, "Expand")
    return tape.record("Expand", Tensor(shape, (0, *x.strides[1:]), x.dtype, x.storage), [x], new_gradients(x))


def add(tape: Tape, a: Tensor, b: Tensor) -> Tensor:
    """A + b."""
    return binary(tape, "Add", a, b, keeps=False)


def mul(tape: Tape, a: Tensor, b: Tensor) -> Tensor:
    """A * b."""
    return binary(tape, "Mul", a, b, keeps=True)


def scalar(tape: Tape, x: Tensor, name: str = "Mul") -> Tensor:
    """Multiplication by a number, negation and the like: nothing is kept, the gradient is new."""
    return tape.record(name, fresh(tape, x), [x], new_gradients(x))


def shift(tape: Tape, x: Tensor, dtype: str | None = None) -> Tensor:
    """Addition of a number, or of a mask that may raise the dtype: nothing is kept, the gradient passes through."""
    output = fresh(tape, x, promoted(x.dtype, dtype or x.dtype))
    return settled(tape.record("Add", output, [x], lambda _, gradient: [gradient]), specs(x))


def keep_input(tape: Tape, name: str, x: Tensor) -> Tensor:
    """An elementwise function whose derivative is computed from its input (silu, gelu)."""
    return tape.record(name, fresh(tape, x), [x], new_gradients(x), {"self": x})


def square(tape: Tape, x: Tensor) -> Tensor:
    """X to the power 2; its backward pass makes x to the power 1 and twice that before the gradient."""
    spec = x.shape, x.dtype

    def rule(tape: Tape, _: Tensor) -> list[Tensor]:
        power, twice = tape.new(*spec), tape.new(*spec)
        gradient = tape.new(*spec)
        del power, twice
        return [gradient]

    return tape.record("Pow", fresh(tape, x), [x], rule, {"self": x})


def keep_result(tape: Tape, name: str, x: Tensor) -> Tensor:
    """A function whose derivative is computed from its result (rsqrt, tanh, softmax)."""
    output = fresh(tape, x)
    return tape.record(name, output, [x], new_gradients(x), {"result": output})


def mean(tape: Tape, x: Tensor) -> Tensor:
    """Mean over the last dimension, kept as one element."""
    return tape.record("Mean", tape.new((*x.shape[:-1], 1), x.dtype), [x], new_gradients(x))


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


def kept_if(kept: Tensor, other: Tensor) -> Tensor | None:
    """The tensor, when a gradient flows to the other one and needs it."""
    return kept if other.node else None


def gathered(tape: Tape, x: Tensor, shape: Dims, kept: dict[str, Tensor]) -> Tensor:
    """Rows or entries picked by indices, which are kept."""
    return tape.record("Index", tape.new(shape, x.dtype), [x], new_gradients(x), kept)


def summed(tape: Tape, x: Tensor) -> Tensor:
    """Sum over the last dimension but one; its gradient is a view of the incoming one."""
    shape = x.shape

    def rule(_: Tape, gradient: Tensor) -> list[Tensor]:
        return [Tensor(shape, contiguous_strides(shape), gradient.dtype, gradient.storage, is_view=True)]

    return tape.record("Sum", tape.new((*x.shape[:-2], x.shape[-1]), x.dtype), [x], rule)


def summed_last(tape: Tape, x: Tensor) -> Tensor:
    """Sum over the last dimension, kept as one element."""
    shape = x.shape

    def rule(_: Tape, gradient: Tensor) -> list[Tensor]:
        return [Tensor(shape, contiguous_strides(shape), gradient.dtype, gradient.storage, is_view=True)]

    return tape.record("Sum", tape.new((*x.shape[:-1], 1), x.dtype), [x], rule)


def divide(tape: Tape, a: Tensor, b: Tensor) -> Tensor:
    """A / b in place of a: keeps b, and a for the gradient of b."""
    output = Tensor(a.shape, a.strides, a.dtype, a.storage, a.node)
    return tape.record("Div", output, [a, b], new_gradients(a, b), {"self": kept_if(a, b), "other": kept_if(b, a)})


def embedding(tape: Tape, ids: Tensor, weight: Tensor) -> Tensor:
    """Rows of a table; keeps the ids when the table learns, and its gradient is the whole table."""
    output = tape.new((*ids.shape, weight.shape[1]), weight.dtype)
    return tape.record("Embedding", output, [weight], new_gradients(weight), {"indices": ids})
