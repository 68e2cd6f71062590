"""Attention as Transformers and PyTorch's dispatcher run it on CUDA: which kernel, on which tensors, keeping what.

``sdpa`` is what PyTorch 2.13 picks: flash for half precision without a mask, memory-efficient with one, and the math path where
neither takes grouped heads. ``flash-repeated`` is the kernel on keys and values repeated to all heads.
"""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum import products, views
from gradaccum.families.run import Run
from gradaccum.graph import Tensor
from gradaccum.layout import elementwise_strides
from gradaccum.tape import Tape

ALIGNMENT = 32


def attend(
    run: Run,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = True,
    softmax: str = "fp32",
    masked: bool = False,
    softcap: bool = False,
) -> Tensor:
    """(b, s, H·d) from (b, H, s, d) and (b, K, s, d). ``masked``: a mask is given beside plain causality.

    ``softmax`` of eager scores: in ``fp32`` and cast back, in their own dtype (autocast raises it) and ``cast`` back, or
    ``plain``, whatever dtype comes out.
    """
    tape = run.tape
    if run.setting.attention == "eager":
        output = _eager(run, q, k, v, softmax=softmax, softcap=softcap, masked=causal or masked)
    else:
        output = _fused(run, q, k, v, masked=masked)
    output = views.contiguous(tape, views.transpose(tape, output, 1, 2))
    return views.reshape(tape, output, (*output.shape[:2], output.shape[2] * output.shape[3]))


def _eager(run: Run, q: Tensor, k: Tensor, v: Tensor, *, softmax: str, softcap: bool, masked: bool) -> Tensor:
    tape = run.tape
    repeats = q.shape[1] // k.shape[1]
    k, v = views.expand_heads(tape, k, repeats), views.expand_heads(tape, v, repeats)
    weights = ops.scalar(tape, products.bmm(tape, q, views.transpose(tape, k, 2, 3)))
    if softcap:
        weights = ops.scalar(tape, weights)
        weights = ops.keep_result(tape, "Tanh", weights)
        weights = ops.scalar(tape, weights)
    if masked:
        weights = ops.shift(tape, weights, run.mask_dtype)
    dtype = q.dtype
    raised = ops.cast(tape, weights, "fp32") if softmax == "fp32" else ops.upper(tape, weights)
    normalised = ops.keep_result(tape, "Softmax", raised)
    del raised
    weights = normalised if softmax == "plain" else ops.cast(tape, normalised, dtype)
    del normalised
    # The layer gets the weights too and holds them to its end, in a name it never uses.
    run.held["attention_weights"] = weights
    return products.bmm(tape, weights, v)


def _fused(run: Run, q: Tensor, k: Tensor, v: Tensor, *, masked: bool) -> Tensor:
    tape, repeats = run.tape, q.shape[1] // k.shape[1]
    grouped = repeats > 1
    if grouped and (masked or run.setting.attention == "flash-repeated"):
        k, v = views.expand_heads(tape, k, repeats), views.expand_heads(tape, v, repeats)
        grouped = False
    q, k, v = (ops.lower(tape, t) for t in (q, k, v))
    if masked:
        return _efficient(run, q, k, v, mask=True)
    if q.dtype != "fp32":
        return _flash(tape, q, k, v)
    return _math(tape, q, k, v) if grouped else _efficient(run, q, k, v, mask=False)


def _fused_node(tape: Tape, name: str, output: Tensor, q: Tensor, k: Tensor, v: Tensor, kept: dict[str, Tensor]) -> Tensor:
    specs = [(t.shape, t.dtype, elementwise_strides(t.shape, t.strides)) if t.node else None for t in (q, k, v)]
    kept = {"query": q, "key": k, "value": v, "output": output} | kept
    return tape.record(name, output, [q, k, v], lambda tape, _: [tape.new(*spec) if spec else None for spec in specs], kept)


def _flash(tape: Tape, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    size = q.shape[-1]
    if size % 8:
        q, k, v = (_padded(tape, t) for t in (q, k, v))
    b, heads, s = q.shape[:3]
    kept = {
        "logsumexp": tape.new((b, heads, s), "fp32"),
        "rng_state": tape.new((2,), "uint64"),
        "unused": tape.new((), "uint64"),
    }
    output = _fused_node(tape, "ScaledDotProductFlashAttention", ops.fresh(tape, q), q, k, v, kept)
    return views.part(tape, output, 3, size) if size % 8 else output


def _padded(tape: Tape, x: Tensor) -> Tensor:
    """The kernel wants head sizes in steps of 8."""
    shape = (*x.shape[:-1], -(-x.shape[-1] // 8) * 8)
    spec = x.shape, x.dtype
    return tape.record("ConstantPadNd", tape.new(shape, x.dtype), [x], lambda tape, _: [tape.new(*spec)])


def _efficient(run: Run, q: Tensor, k: Tensor, v: Tensor, *, mask: bool) -> Tensor:
    tape = run.tape
    b, heads, s, d = q.shape
    kept = {"log_sumexp": tape.new((b, heads, -(-s // ALIGNMENT) * ALIGNMENT), "fp32")}
    kept |= {"philox_seed": tape.new((), "int64"), "philox_offset": tape.new((), "int64")}
    if mask:
        # The bool mask becomes a bias of the query's dtype, in every layer anew.
        kept["attn_bias"] = tape.new((b, 1, s, k.shape[2]), q.dtype)
    output = tape.new((b, heads, s, d), q.dtype, (s * heads * d, d, heads * d, 1))
    return _fused_node(tape, "ScaledDotProductEfficientAttention", output, q, k, v, kept)


def _math(tape: Tape, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """PyTorch's own composition: both factors scaled, the score matrix kept. Grouped heads are those of decoders: causal."""
    dtype = q.dtype
    q, k, v = (ops.cast(tape, t, "fp32") for t in (q, k, v))
    repeats = q.shape[1] // k.shape[1]
    scaled = ops.scalar(tape, q)
    allowed = tape.new((q.shape[2], k.shape[2]), "bool")
    bias = tape.new(allowed.shape, q.dtype)
    del allowed
    keys, values = (views.expand_heads(tape, t, repeats, copy=True) for t in (k, v))
    weights = products.bmm(tape, scaled, ops.scalar(tape, views.transpose(tape, keys, 2, 3)))
    # The bias is added in place, and is there until the end, as are the repeated keys.
    weights = ops.keep_result(tape, "SafeSoftmax", weights)
    output = products.bmm(tape, weights, values)
    del bias
    return ops.cast(tape, output, dtype)
