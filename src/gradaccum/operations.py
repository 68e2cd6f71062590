"""The operations of the tape: shape and dtype of the result, what autograd keeps, which gradients the backward pass makes.

Each follows ``derivatives.yaml`` and the autocast lists of PyTorch 2.13. A tensor that is only looked at in another way
costs nothing.
"""

from __future__ import annotations

from gradaccum.graph import Node, Rule, Tensor, Wanted
from gradaccum.layout import Dims, broadcast, contiguous_strides, elementwise_strides
from gradaccum.tape import Tape

PRECEDENCE = ("bool", "int64", "fp16", "bf16", "fp32")


def promoted(first: str, second: str) -> str:
    """Dtype of a result of two: the wider one, and fp32 where the two halves meet, of which neither holds the other.

    >>> promoted("bf16", "fp32"), promoted("bf16", "fp16"), promoted("int64", "fp16")
    ('fp32', 'fp32', 'fp16')
    """
    if first == second:
        return first
    return "fp32" if {first, second} == {"fp16", "bf16"} else max(first, second, key=PRECEDENCE.index)


def fresh(tape: Tape, like: Tensor, dtype: str | None = None) -> Tensor:
    """A new tensor of that shape and order of dimensions."""
    return tape.new(like.shape, dtype or like.dtype, elementwise_strides(like.shape, like.strides))


def new_gradients(*inputs: Tensor) -> Rule:
    """A rule that makes a fresh gradient for every input that wants one."""
    if len(inputs) == 1 and inputs[0].node:
        shape, dtype = inputs[0].shape, inputs[0].dtype
        return lambda tape, _: [tape.new(shape, dtype)]
    wanted = specs(*inputs)
    return lambda tape, _: [tape.new(*spec) if spec else None for spec in wanted]


def specs(*inputs: Tensor) -> tuple[Wanted, ...]:
    """Shape and dtype of the gradient of every input that wants one."""
    return tuple([(x.shape, x.dtype) if x.node else None for x in inputs])


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
    shape = a.shape if a.shape == b.shape else broadcast(a.shape, b.shape)
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


def kept_if(kept: Tensor, other: Tensor) -> Tensor | None:
    """The tensor, when a gradient flows to the other one and needs it."""
    return kept if other.node else None


def gathered(tape: Tape, x: Tensor, shape: Dims, kept: dict[str, Tensor], name: str = "Index") -> Tensor:
    """Rows or entries picked by indices, which are kept."""
    return tape.record(name, tape.new(shape, x.dtype), [x], new_gradients(x), kept)


def summed(tape: Tape, x: Tensor) -> Tensor:
    """Sum over the last dimension but one, which autocast makes in fp32; its gradient is a view of the incoming one."""
    shape = x.shape
    dtype = x.dtype if tape.autocast is None else "fp32"

    def rule(_: Tape, gradient: Tensor) -> list[Tensor]:
        return [Tensor(shape, contiguous_strides(shape), gradient.dtype, gradient.storage, is_view=True)]

    output = tape.record("Sum", tape.new((*x.shape[:-2], x.shape[-1]), dtype), [x], rule)
    return settled(output, specs(x))


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
