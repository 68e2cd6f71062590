"""Parts that several families share: embeddings, norms, rotary positions, masks, MLPs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gradaccum import operations as ops
from gradaccum import views
from gradaccum.families.run import Run
from gradaccum.graph import Node, Parameter, Tensor
from gradaccum.layout import Dims


def is_masked(run: Run, kind: str) -> bool:
    """Whether a mask is given: padding, or a window that the sequence fills. Flash kernels take a window without one."""
    if run.setting.attention.startswith("flash"):
        return False
    return run.setting.padded or (kind == "sliding" and run.length >= run.arch.sliding_window)


def causal_mask(run: Run, dtype: str, kind: str = "full") -> Tensor | None:
    """What is made once and added (eager) or passed on (sdpa) in every layer of a kind; nothing where the kernel masks.

    Without padding all rows look at one mask.
    """
    run.mask_dtype = dtype
    if run.setting.attention == "eager":
        return run.tape.new((run.batch, 1, run.length, run.length), dtype)
    rows = run.batch if run.setting.padded else 1
    return run.tape.new((rows, 1, run.length, run.length), "bool") if is_masked(run, kind) else None


def causal_masks(run: Run, dtype: str, kinds: Iterable[str]) -> dict[str, Tensor | None]:
    """One for each kind of layer."""
    return {kind: causal_mask(run, dtype, kind) for kind in dict.fromkeys(kinds)}


def heads_first(run: Run, x: Tensor) -> Tensor:
    """(b, s, heads, d) looked at as (b, heads, s, d)."""
    return views.transpose(run.tape, x, 1, 2)


def heads_of(run: Run, x: Tensor, heads: int) -> Tensor:
    """(b, s, heads·d) looked at as (b, heads, s, d)."""
    b, s = x.shape[:2]
    return views.transpose(run.tape, views.reshape(run.tape, x, (b, s, heads, x.shape[-1] // heads)), 1, 2)


def rms_norm(run: Run, x: Tensor, name: str) -> Tensor:
    """Llama's: normalise in fp32, go back to the input's dtype, then multiply by the weights."""
    tape = run.tape
    with tape.scope(name):
        dtype = x.dtype
        x = ops.cast(tape, x, "fp32")
        variance = ops.mean(tape, ops.square(tape, x))
        x = ops.mul(tape, x, ops.keep_result(tape, "Rsqrt", ops.shift(tape, variance)))
        return ops.mul(tape, run.weight("weight", x.shape[-1]), ops.cast(tape, x, dtype))


def fp32_rms_norm(run: Run, x: Tensor, name: str, *, one_plus: bool) -> Tensor:
    """Gemma's and Olmo2's: multiply by the weights (Gemma: 1 + weights) in fp32, then go back to the input's dtype."""
    tape = run.tape
    with tape.scope(name):
        dtype, weight = x.dtype, run.weight("weight", x.shape[-1])
        x = ops.cast(tape, x, "fp32")
        variance = ops.mean(tape, ops.square(tape, x))
        x = ops.mul(tape, x, ops.keep_result(tape, "Rsqrt", ops.shift(tape, variance)))
        x = ops.mul(tape, x, ops.shift(tape, ops.cast(tape, weight, "fp32"))) if one_plus else ops.mul(tape, weight, x)
        return ops.cast(tape, x, dtype)


def layer_norm(run: Run, x: Tensor, name: str) -> Tensor:
    """Input, mean and 1/std are kept; CUDA keeps the last two in fp32, autocast runs it all in fp32."""
    tape = run.tape
    with tape.scope(name):
        weight, bias = run.weight("weight", x.shape[-1]), run.weight("bias", x.shape[-1])
        x, weight, bias = (ops.upper(tape, t) for t in (x, weight, bias))
        stats = [tape.new((*x.shape[:-1], 1), "fp32") for _ in range(2)]
        kept = {"input": x, "result1": stats[0], "result2": stats[1], "weight": weight, "bias": bias}
        specs = [(t.shape, t.dtype) if t.node else None for t in (x, weight, bias)]
        return tape.record(
            "NativeLayerNorm",
            ops.fresh(tape, x),
            [x, weight, bias],
            lambda tape, _: [tape.new(*spec) if spec else None for spec in specs],
            kept,
        )


Rotary = tuple[Tensor, Tensor]
Shared = tuple[Any, Any]
"""What all layers share: rotary tables and masks, by kind of layer where there are several."""


def rotary_tables(run: Run, x: Tensor, size: int, dtype: str | None = None) -> Rotary:
    """Cos and sin of every position, in the stream's dtype unless told; made once per model, without the batch."""
    tape, dtype = run.tape, dtype or x.dtype
    run.held["position_ids"] = tape.new((1, run.length), "int64")
    angles = tape.new((1, run.length, size), "fp32")
    cos = ops.cast(tape, ops.fresh(tape, angles), dtype)
    sin = ops.cast(tape, ops.fresh(tape, angles), dtype)
    return cos, sin


def rotate_half(run: Run, x: Tensor) -> Tensor:
    """The two halves exchanged, one of them negated."""
    half = x.shape[-1] // 2
    x1 = views.part(run.tape, x, len(x.shape) - 1, half)
    x2 = views.part(run.tape, x, len(x.shape) - 1, half)
    return views.cat(run.tape, [ops.scalar(run.tape, x2, "Neg"), x1])


def rotate(run: Run, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """X cos + rotate_half(x) sin."""
    tape = run.tape
    return ops.add(tape, ops.mul(tape, x, cos), ops.mul(tape, rotate_half(run, x), sin))


def apply_rotary(run: Run, q: Tensor, k: Tensor, rotary: Rotary) -> tuple[Tensor, Tensor]:
    """Both rotated; the tables broadcast over batch and heads."""
    cos, sin = (views.view(run.tape, t, (1, *t.shape), (0, *t.strides), "Unsqueeze") for t in rotary)
    dtypes = q.dtype, k.dtype
    q = rotate(run, q, cos, sin)
    k = rotate(run, k, cos, sin)
    if run.arch.model_type == "olmo2":
        return ops.cast(run.tape, q, dtypes[0]), ops.cast(run.tape, k, dtypes[1])
    return q, k


def apply_partial_rotary(run: Run, q: Tensor, k: Tensor, rotary: Rotary) -> tuple[Tensor, Tensor]:
    """The first part of each head rotated and joined with the rest again: a dense copy with the heads in front."""
    size = rotary[0].shape[-1]
    rest = q.shape[-1] - size
    turned = apply_rotary(run, views.part(run.tape, q, 3, size), views.part(run.tape, k, 3, size), rotary)
    q, k = (views.cat(run.tape, [new, views.part(run.tape, old, 3, rest)]) for new, old in zip(turned, (q, k), strict=True))
    return q, k


def activate(run: Run, x: Tensor) -> Tensor:
    """The MLP's activation function. ``gelu_new`` is written out in Python, so each of its parts is kept."""
    tape = run.tape
    if run.arch.activation != "gelu_new":
        return ops.keep_input(tape, run.arch.activation.title(), x)
    # One expression, as in the original: no part of it is held by a name once it is used.
    return ops.mul(
        tape,
        ops.scalar(tape, x),
        ops.shift(
            tape,
            ops.keep_result(
                tape,
                "Tanh",
                ops.scalar(tape, ops.add(tape, x, ops.scalar(tape, ops.square(tape, ops.upper(tape, x))))),
            ),
        ),
    )


def gated_mlp(run: Run, x: Tensor) -> Tensor:
    """down(act(gate(x)) * up(x))."""
    tape, f, h, bias = run.tape, run.arch.mlp, run.arch.hidden, run.arch.mlp_bias
    with tape.scope("mlp"):
        gated = activate(run, run.linear(x, "gate_proj", f, bias=bias))
        return run.linear(ops.mul(tape, gated, run.linear(x, "up_proj", f, bias=bias)), "down_proj", h, bias=bias)


def embed(run: Run, ids: Tensor, name: str, rows: int, width: int) -> Tensor:
    """Rows of an embedding table."""
    with run.tape.scope(name):
        return ops.embedding(run.tape, ids, run.weight("weight", rows, width))


def embed_tokens(run: Run, ids: Tensor, name: str) -> Tensor:
    """Embedded tokens."""
    return differentiable(run, embed(run, ids, name, run.arch.vocabulary, run.arch.hidden))


def differentiable(run: Run, x: Tensor) -> Tensor:
    """Embedded inputs. With checkpointing they ask for a gradient even when nothing before them learns.

    A layer that is run again needs it.
    """
    if run.setting.checkpointing == "full" and x.node is None:
        # A leaf is held by the graph that leads to it.
        x.node = Node("InputRequiresGrad", (), lambda _, __: [])
        x.node.saved.append(x.storage)
    return x


def buffer(run: Run, shape: Dims) -> Tensor:
    """Indices that are a buffer of the model: there anyway, so they count for nothing."""
    tensor = run.tape.new(shape, "int64")
    tensor.parameter = Parameter("buffer", shape, "int64", trainable=False)
    return tensor


def padding_mask(run: Run, dtype: str) -> Tensor | None:
    """The mask of an encoder: only where there is padding."""
    if not run.setting.padded:
        return None
    run.mask_dtype = dtype
    shape = (run.batch, 1, run.length, run.length)
    return run.tape.new(shape, dtype if run.setting.attention == "eager" else "bool")


def flat_shape(x: Tensor) -> Dims:
    """All leading dimensions in one."""
    return (math.prod(x.shape[:-1]), x.shape[-1])
