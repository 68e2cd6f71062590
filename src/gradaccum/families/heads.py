"""Output heads and losses."""

from __future__ import annotations

import math

from gradaccum import operations as ops
from gradaccum import products, views
from gradaccum.families.parts import flat_shape
from gradaccum.families.run import Run
from gradaccum.graph import Tensor
from gradaccum.symbols import BATCH, CHUNK
from gradaccum.tape import Tape


def language_model_loss(run: Run, x: Tensor, head: str, table: str, *, scaled: bool = False) -> Tensor:
    """Logits of the head, or of the embedding ``table`` it is tied to, and shifted cross entropy in fp32.

    ``scaled``: the logits are divided by a number.
    Source: ``ForCausalLMLoss`` of Transformers 5.24.
    """
    if run.setting.loss == "fused":
        return fused_loss(run, x, head_weight(run, x, head, table))
    tape = run.tape
    with tape.scope(head):
        logits = products.mm(tape, x, head_weight(run, x, head, table))
    if scaled:
        logits = ops.scalar(tape, logits, "Div")
    if run.arch.softcap_logits:
        logits = ops.scalar(tape, ops.keep_result(tape, "Tanh", ops.scalar(tape, logits)))
    raised = ops.cast(tape, logits, "fp32")
    shifted = shifted_labels(run)
    return cross_entropy(run, views.reshape(tape, raised, flat_shape(raised)), shifted[1])


def head_weight(run: Run, x: Tensor, head: str, table: str) -> Tensor:
    """Weights of the head as a matrix (hidden, vocabulary)."""
    tape, scopes = run.tape, run.tape.scopes
    tape.scopes = [table if run.arch.tied else head]
    rows, columns = (run.arch.vocabulary, x.shape[-1]) if run.arch.tied else (x.shape[-1], run.arch.vocabulary)
    weight = run.weight("weight", rows, columns)
    tape.scopes = scopes
    weight.shape = (x.shape[-1], run.arch.vocabulary)
    return weight


def shifted_labels(run: Run) -> tuple[Tensor, Tensor]:
    """Labels padded by one, and shifted: with one row they lie in one piece already and stay a view of the padded ones."""
    tape, shape = run.tape, (run.batch, run.length)
    padded = tape.new((run.batch, run.length + 1), "int64")
    if run.batch == 1:
        return padded, Tensor(shape, padded.strides, "int64", padded.storage)
    return padded, tape.new(shape, "int64")


def fused_loss(run: Run, x: Tensor, weight: Tensor) -> Tensor:
    """Head and loss in chunks of rows, with the gradients made in the forward pass.

    Kept are those gradients, of the input and (when it learns) of the head; never more logits are there than one chunk's.
    Not in the recordings: read from Liger-Kernel's fused linear cross entropy.
    """
    tape = run.tape
    x, weight = ops.lower(tape, x), ops.lower(tape, weight)
    rows, (hidden, vocabulary) = math.prod(x.shape[:-1]), weight.shape
    gradients = {"grad_input": tape.new(x.shape, x.dtype)}
    if weight.node:
        gradients["grad_weight"] = tape.new(weight.shape, weight.dtype)
    chunk = CHUNK if run.batch == BATCH else chunk_rows(rows, vocabulary, hidden)
    losses = tape.new((rows,), "fp32")
    logits = tape.new((chunk, vocabulary), x.dtype)
    del logits, losses
    wanted = [(t.shape, t.dtype) if t.node else None for t in (x, weight)]
    kept = {name: gradient for name, gradient in gradients.items() if x.node or weight.node}

    def rule(tape: Tape, _: Tensor) -> list[Tensor | None]:
        return [tape.new(*spec) if spec else None for spec in wanted]

    return tape.record("FusedLinearCrossEntropy", tape.new((), "fp32"), [x, weight], rule, kept)


def chunk_rows(rows: int, vocabulary: int, hidden: int) -> int:
    """Rows of a chunk: the next power of two of rows / ceil(V / h), at most all of them.

    >>> chunk_rows(4096, 128_256, 4096)
    128
    """
    return min(rows, 1 << (-(-rows // -(-vocabulary // hidden)) - 1).bit_length())


def cross_entropy(run: Run, logits: Tensor, target: Tensor) -> Tensor:
    """log-softmax in the logits' dtype, then the negative log-likelihood, which autocast runs in fp32."""
    tape = run.tape
    logarithms = ops.upper(tape, ops.keep_result(tape, "LogSoftmax", logits))
    total = tape.new((), logarithms.dtype)
    spec = logarithms.shape, logarithms.dtype
    kept = {"self": logarithms, "target": target, "total_weight": total}
    return tape.record("NllLoss", tape.new((), logarithms.dtype), [logarithms], lambda tape, _: [tape.new(*spec)], kept)


def first_position(run: Run, x: Tensor) -> Tensor:
    """(b, h) of (b, s, h): a view, so whoever keeps it keeps all of x."""
    b, s, h = x.shape
    shape = (x.shape, x.dtype)
    output = Tensor((b, h), (s * h, 1), x.dtype, x.storage)
    return run.tape.record("Select", output, [x], lambda tape, _: [tape.new(*shape)])
