"""Matrix products and convolution: operations of the tape that multiply with weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradaccum.graph import Rule, Tensor, Wanted
from gradaccum.layout import Dims, contiguous_strides, elementwise_strides, viewed_strides
from gradaccum.operations import cast, kept_if, lower, new_gradients, promoted, specs
from gradaccum.tape import Tape
from gradaccum.views import reshape, view


def bmm(tape: Tape, a: Tensor, b: Tensor) -> Tensor:
    """``torch.matmul`` of (b, heads, n, k) and (b, heads, k, m): flattened to three dimensions, which may copy."""
    a, b = lower(tape, a), lower(tape, b)
    lead, n, m = a.shape[:2], a.shape[2], b.shape[3]
    flat = math.prod(lead)
    a, b = (_flat(tape, x, flat) for x in (a, b))
    kept = {"self": kept_if(a, b), "mat2": kept_if(b, a)}
    output = tape.record("Bmm", tape.new((flat, n, m), a.dtype), [a, b], new_gradients(a, b), kept)
    return view(tape, output, (*lead, n, m), contiguous_strides((*lead, n, m)))


def _flat(tape: Tape, x: Tensor, flat: int) -> Tensor:
    # matmul flattens with reshape: a transposed or expanded tensor is copied as soon as its leading dimensions cannot merge.
    return reshape(tape, x, (flat, *x.shape[2:]))


def mm(tape: Tape, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A matrix product of (..., i) with weights of ``shape`` (i, o), as ``torch.nn.Linear`` runs it, bias added inside.

    Quantized weights are unpacked for the product, and again for its backward pass.
    """
    quantized = weight.parameter is not None and weight.parameter.quantized
    x, weight = lower(tape, x), lower(tape, weight)
    flat = _rows(tape, x)
    inputs = [flat, weight]
    if bias is not None:
        inputs.append(lower(tape, bias))
    unpacked = [tape.new(weight.shape, weight.dtype)] if quantized else []
    output = tape.new((*x.shape[:-1], weight.shape[1]), x.dtype)
    unpacked.clear()
    kept = {"self" if bias is None else "mat1": kept_if(flat, weight), "mat2": kept_if(weight, flat)}
    # Rows that were only looked at in another way get their gradient in the shape and order they had.
    rule = _linear_gradients(specs(*inputs), (x.shape, x.strides) if flat.storage is x.storage and flat is not x else None)
    rule = _unpacking(rule, weight.shape, weight.dtype) if quantized else rule
    return tape.record("Mm" if bias is None else "Addmm", output, inputs, rule, kept)


def _rows(tape: Tape, x: Tensor) -> Tensor:
    """(..., i) as (rows, i). Where memory allows it is a look at the same, and no step of its own on the tape."""
    if len(x.shape) == 2:
        return x
    shape = (math.prod(x.shape[:-1]), x.shape[-1])
    strides = viewed_strides(x.shape, x.strides, shape)
    return reshape(tape, x, shape) if strides is None else Tensor(shape, strides, x.dtype, x.storage, x.node)


def _linear_gradients(wanted: Sequence[Wanted], before: tuple[Dims, Dims] | None) -> Rule:
    def rule(tape: Tape, _: Tensor) -> list[Tensor | None]:
        outgoing = [tape.new(*spec) if spec else None for spec in wanted]
        if before is not None and outgoing[0] is not None:
            flat = outgoing[0]
            outgoing[0] = Tensor(before[0], elementwise_strides(*before), flat.dtype, flat.storage, is_view=True)
        if outgoing[1] is not None:
            # The layer multiplies with its weights transposed, so their gradient is a view of a transposed one.
            outgoing[1].is_view = True
        return outgoing

    return rule


def _unpacking(rule: Rule, shape: Dims, dtype: str) -> Rule:
    def unpack_first(tape: Tape, gradient: Tensor) -> Sequence[Tensor | None]:
        unpacked = tape.new(shape, dtype)
        outgoing = rule(tape, gradient)
        del unpacked
        return outgoing

    return unpack_first


def grouped_mm(tape: Tape, x: Tensor, weight: Tensor, offsets: Tensor) -> Tensor:
    """One matrix product for each group of rows; autocast has no rule for it, so mixed dtypes meet in the wider one."""
    x = cast(tape, x, promoted(x.dtype, weight.dtype))
    kept = {"self": kept_if(x, weight), "mat2": kept_if(weight, x), "offs": offsets}
    output = tape.new((x.shape[0], weight.shape[2]), x.dtype)
    return tape.record("GroupedMm", output, [x, weight], new_gradients(x, weight), kept)


def baddbmm(tape: Tape, base: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Base + a b, a product for each matrix of a stack; keeps both factors."""
    kept = {"batch1": kept_if(a, b), "batch2": kept_if(b, a)}
    return tape.record("Baddbmm", tape.new(base.shape, base.dtype), [base, a, b], new_gradients(base, a, b), kept)


def convolution(tape: Tape, x: Tensor, weight: Tensor, bias: Tensor, shape: Dims) -> Tensor:
    """Keeps its input and its weights, in the lower dtype under autocast."""
    x, weight, bias = lower(tape, x), lower(tape, weight), lower(tape, bias)
    kept = {"input": x, "weight": weight}
    return tape.record("Convolution", tape.new(shape, x.dtype), [x, weight, bias], new_gradients(x, weight, bias), kept)
