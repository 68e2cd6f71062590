"""Attention kernels, output heads and losses, counted by hand: what each keeps, and the most there is while it runs."""

from types import SimpleNamespace

import pytest

from gradaccum.families import attention, heads, parts
from gradaccum.families.run import Run
from gradaccum.graph import BYTES
from gradaccum.setting import Setting
from gradaccum.symbols import BATCH, Line, Recorder
from gradaccum.tape import Tape

B, H, S, D = 2, 4, 40, 16
ROW, SCORE = B * H * S * D, B * H * S * S
"""Elements of queries (and of keys and values on all heads), and of a score matrix."""


def run_of(batch=B, length=S, meter=None, arch=None, **setting):
    chosen = Setting(**setting)
    return Run(Tape(chosen.autocast, meter=meter), SimpleNamespace(**arch or {}), chosen, batch, length)


def computed(run, shape, dtype, strides=None):
    """A tensor that weights made: a gradient flows back to it."""
    leaf = run.tape.parameter(f"p{len(run.tape.parameters)}", (1,), dtype, trainable=True)
    return run.tape.record("Before", run.tape.new(shape, dtype, strides), [leaf], lambda *_: [None])


class Watched:
    """What the operations within kept, how much stayed alive, and the most there was on the way."""

    def __init__(self, run):
        self.run, self.first, self.before = run, len(run.tape.ledger), run.tape.meter.live
        run.tape.meter.restart()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        meter = self.run.tape.meter
        self.stays, self.peak = meter.live - self.before, meter.peak - self.before
        self.kept = [(e.operation, e.slot, e.shape, e.dtype) for e in self.run.tape.ledger[self.first :]]


def projections(run, groups, dtype, size=D):
    """Queries, keys and values as a linear layer leaves them: rows first, looked at with the heads in front."""
    shapes = [(run.batch, heads, run.length, size) for heads in (H, groups, groups)]
    return [computed(run, (b, n, s, d), dtype, (s * n * d, d, n * d, 1)) for b, n, s, d in shapes]


def gradients(run, output):
    """What comes back to the inputs of the last step, as shape, dtype and strides."""
    found = output.node.rule(run.tape, run.tape.new(output.shape, output.dtype))
    return [gradient and (gradient.shape, gradient.dtype, gradient.strides) for gradient in found]


@pytest.mark.parametrize("groups", [H, 2])
def test_flash_keeps_what_goes_in_and_a_number_for_each_row(groups):
    run = run_of(attention="sdpa")
    q, k, v = projections(run, groups, "bf16")
    with Watched(run) as watched:
        output = attention.attend(run, q, k, v)
    name = "ScaledDotProductFlashAttention"
    assert watched.kept == [
        (name, "query", q.shape, "bf16"),
        (name, "key", k.shape, "bf16"),
        (name, "value", v.shape, "bf16"),
        (name, "output", q.shape, "bf16"),
        (name, "logsumexp", (B, H, S), "fp32"),
        (name, "rng_state", (2,), "uint64"),
        (name, "unused", (), "uint64"),
    ]
    # The output lies as the queries do, so its heads are joined without a copy.
    assert watched.stays == watched.peak == 2 * ROW + 4 * B * H * S + 3 * 8
    assert (output.shape, output.dtype, output.node.name) == ((B, S, H * D), "bf16", "View")
    (kernel,) = [node for node in run.tape.nodes if node.name == name]
    found = kernel.rule(run.tape, run.tape.new(q.shape, "bf16"))
    assert [(g.shape, g.dtype, g.strides) for g in found] == [(t.shape, "bf16", t.strides) for t in (q, k, v)]


@pytest.mark.parametrize("size, widened", [(4, 8), (12, 16), (60, 64), (63, 64)])
def test_flash_widens_heads_to_the_next_eight(size, widened):
    run = run_of(attention="flash")
    q, k, v = projections(run, 2, "bf16", size)
    with Watched(run) as watched:
        output = attention._fused(run, q, k, v, masked=False)
    wide = [(*t.shape[:3], widened) for t in (q, k, v)]
    assert [shape for _, slot, shape, _ in watched.kept if slot in {"query", "key", "value"}] == wide
    assert watched.stays == 2 * (2 * B * H * S * widened + 2 * B * 2 * S * widened) + 4 * B * H * S + 3 * 8
    assert (output.shape, output.node.name) == (q.shape, "Slice")
    padded = [node for node in run.tape.nodes if node.name == "ConstantPadNd"]
    shapes = [node.rule(run.tape, None)[0] for node in padded]
    assert [(g.shape, g.dtype) for g in shapes] == [(t.shape, "bf16") for t in (q, k, v)]


@pytest.mark.parametrize("groups", [H, 2])
@pytest.mark.parametrize("attention_kind", ["sdpa", "flash-repeated"])
def test_with_a_mask_the_heads_are_repeated_and_the_mask_becomes_a_bias(groups, attention_kind):
    run = run_of(attention=attention_kind)
    q, k, v = projections(run, groups, "bf16")
    with Watched(run) as watched:
        output = attention.attend(run, q, k, v, masked=True)
    name = "ScaledDotProductEfficientAttention"
    assert {slot: (shape, dtype) for operation, slot, shape, dtype in watched.kept if operation == name} == {
        "query": (q.shape, "bf16"),
        "key": (q.shape, "bf16"),
        "value": (q.shape, "bf16"),
        "output": (q.shape, "bf16"),
        # Rows of sums in steps of 32.
        "log_sumexp": ((B, H, 64), "fp32"),
        "philox_seed": ((), "int64"),
        "philox_offset": ((), "int64"),
        "attn_bias": ((B, 1, S, S), "bf16"),
    }
    repeated = 2 * 2 * ROW if groups < H else 0
    assert watched.stays == watched.peak == repeated + 2 * ROW + 4 * B * H * 64 + 2 * 8 + 2 * B * S * S
    assert output.strides == (S * H * D, H * D, 1)


def test_in_fp32_without_groups_the_efficient_kernel_runs_without_a_bias():
    run = run_of(precision="fp32")
    q, k, v = projections(run, H, "fp32")
    with Watched(run) as watched:
        attention.attend(run, q, k, v)
    assert watched.stays == watched.peak == 4 * ROW + 4 * B * H * 64 + 2 * 8
    assert "attn_bias" not in [slot for _, slot, _, _ in watched.kept]


def test_flash_on_repeated_heads_keeps_them():
    run = run_of(attention="flash-repeated")
    q, k, v = projections(run, 2, "bf16")
    with Watched(run) as watched:
        attention.attend(run, q, k, v)
    assert [shape for _, slot, shape, _ in watched.kept if slot in {"query", "key", "value"}] == [q.shape] * 3
    assert watched.stays == watched.peak == 2 * 2 * ROW + 2 * ROW + 4 * B * H * S + 3 * 8


def test_grouped_heads_in_fp32_are_multiplied_step_by_step():
    run = run_of(precision="fp32")
    q, k, v = projections(run, 2, "fp32")
    with Watched(run) as watched:
        output = attention._fused(run, q, k, v, masked=False)
    flat = (B * H, S, D)
    assert watched.kept == [
        ("Bmm", "self", flat, "fp32"),
        ("Bmm", "mat2", (B * H, D, S), "fp32"),
        ("SafeSoftmax", "result", (B, H, S, S), "fp32"),
        ("Bmm", "mat2", flat, "fp32"),
    ]
    # The scaled queries lie in rows, so they are copied to be stacked; keys and values were made with the heads in front.
    kept = 4 * (ROW + ROW + SCORE + ROW)
    assert watched.stays == kept + 4 * ROW
    # On top, when softmax runs: the scaled queries before they were copied, the bias, the repeated keys, the scores.
    assert watched.peak == kept + 4 * ROW + 4 * S * S + 4 * ROW + 4 * SCORE
    assert (output.shape, output.dtype) == ((B, H, S, D), "fp32")


EAGER = {
    # Bytes of a score: softmax raised to fp32 is kept, and what it becomes if that is another dtype.
    ("bf16", "fp32"): (4 + 2, 2 + 4 + 4),
    ("bf16", "plain"): (2, 2 + 2),
    ("fp32", "fp32"): (4, 4 + 4),
    ("fp32", "plain"): (4, 4 + 4),
}


@pytest.mark.parametrize("dtype, softmax", EAGER)
@pytest.mark.parametrize("causal", [False, True])
def test_eager_keeps_the_probabilities_and_holds_them_to_the_end_of_the_layer(dtype, softmax, causal):
    run = run_of(precision=dtype, attention="eager")
    run.mask_dtype = dtype
    q, k, v = (computed(run, (B, H, S, D), dtype) for _ in range(3))
    with Watched(run) as watched:
        attention._eager(run, q, k, v, softmax=softmax, softcap=False, masked=causal)
        weights = run.held["attention_weights"]
    stays, peak = EAGER[dtype, softmax]
    assert (weights.shape, weights.dtype) == ((B, H, S, S), dtype)
    assert watched.stays == stays * SCORE
    # Before softmax the raised scores stand beside those they were raised from; the output is made after all of that.
    assert watched.peak == peak * SCORE
    names = [node.name for node in run.tape.nodes if node.name not in {"Before", "View", "Transpose"}]
    raised = ["ToCopy"] if (dtype, softmax) == ("bf16", "fp32") else []
    assert names == ["Bmm", "Mul", *(["Add"] if causal else []), *raised, "Softmax", *raised, "Bmm"]


def test_capped_scores_keep_the_tanh():
    run = run_of(precision="fp32", attention="eager")
    q, k, v = (computed(run, (B, H, S, D), "fp32") for _ in range(3))
    with Watched(run) as watched:
        attention._eager(run, q, k, v, softmax="fp32", softcap=True, masked=False)
    assert ("Tanh", "result", (B, H, S, S), "fp32") in watched.kept
    assert watched.stays == 2 * 4 * SCORE
    names = [node.name for node in run.tape.nodes if node.name not in {"Before", "View", "Transpose"}]
    assert names == ["Bmm", "Mul", "Mul", "Tanh", "Mul", "Softmax", "Bmm"]


V, WIDTH = 50, 24
HEAD = {"tied": False, "vocabulary": V, "softcap_logits": None}


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("batch", [1, B])
@pytest.mark.parametrize("scaled, softcap", [(False, None), (True, None), (False, 30.0)])
def test_a_head_and_its_loss(tied, batch, scaled, softcap):
    run = run_of(batch, arch=HEAD | {"tied": tied, "softcap_logits": softcap})
    x = computed(run, (batch, S, WIDTH), "bf16")
    with Watched(run) as watched:
        loss = heads.language_model_loss(run, x, "lm_head", "embed_tokens", **{"scaled": True} if scaled else {})
    n = batch * S * V
    weight = run.tape.parameters["embed_tokens.weight" if tied else "lm_head.weight"]
    assert weight.shape == ((V, WIDTH) if tied else (WIDTH, V))
    assert run.tape.scopes == []
    assert watched.kept == [
        ("Mm", "self", (batch * S, WIDTH), "bf16"),
        *([("Tanh", "result", (batch, S, V), "bf16")] if softcap else []),
        ("LogSoftmax", "result", (batch * S, V), "fp32"),
        ("NllLoss", "target", (batch, S), "int64"),
        ("NllLoss", "total_weight", (), "fp32"),
    ]
    labels = 8 * batch * (S + 1 if batch == 1 else S)
    padded = 0 if batch == 1 else 8 * batch * (S + 1)
    assert watched.stays == (2 * n if softcap else 0) + 4 * n + labels + 4 + 4
    # Logits and what they were raised to are both there while the logarithms are made, and the labels before they were shifted.
    assert watched.peak == (2 * n if softcap else 0) + (2 + 4 + 4) * n + labels + padded + 4 + 4
    names = [node.name for node in run.tape.nodes if node.name not in {"Before", "View"}]
    between = ["Div"] * scaled + (["Mul", "Tanh", "Mul"] if softcap else [])
    assert names == ["Mm", *between, "ToCopy", "LogSoftmax", "NllLoss"]
    assert (loss.shape, loss.dtype) == ((), "fp32")
    assert gradients(run, loss) == [((batch * S, V), "fp32", (V, 1))]


@pytest.mark.parametrize("learns", ["x", "weight", "both"])
def test_a_fused_loss_keeps_gradients_and_never_all_logits(learns):
    run = run_of(arch=HEAD, loss="fused", method="lora" if learns == "x" else "full")
    x = run.tape.new((B, S, WIDTH), "bf16") if learns == "weight" else computed(run, (B, S, WIDTH), "bf16")
    with Watched(run) as watched:
        loss = heads.language_model_loss(run, x, "lm_head", "embed_tokens")
    name, size = "FusedLinearCrossEntropy", 2 * B * S * WIDTH
    own = 0 if learns == "x" else 2 * WIDTH * V
    assert watched.kept == [
        (name, "grad_input", x.shape, "bf16"),
        *([(name, "grad_weight", (WIDTH, V), "bf16")] if own else []),
    ]
    # 80 rows in as many parts as the vocabulary is wider than the model, ceil(50 / 24) = 3: 27, and the next power of two.
    assert heads.chunk_rows(B * S, V, WIDTH) == 32
    assert watched.stays == size + own + 4
    assert watched.peak == size + own + 4 * B * S + 2 * 32 * V
    shapes = [x.shape if learns != "weight" else None, (WIDTH, V) if learns != "x" else None]
    assert [gradient and gradient[0] for gradient in gradients(run, loss)] == shapes


def test_the_rows_of_a_chunk_stand_for_themselves_while_the_batch_is_open():
    run = run_of(BATCH, meter=Recorder(), arch=HEAD, loss="fused")
    x = computed(run, (BATCH, S, WIDTH), "bf16")
    heads.language_model_loss(run, x, "lm_head", "embed_tokens")
    highest = Line.of(max(run.tape.meter.heights))
    # The input, its gradient and the losses for each sample; the head's gradient; the logits of a chunk.
    assert highest == Line(2 * WIDTH * V, 2 * 2 * S * WIDTH + 4 * S, 2 * V)


@pytest.mark.parametrize("autocast, upper", [("bf16-mixed", "fp32"), ("bf16", "bf16")])
def test_a_layer_norm_keeps_its_input_and_two_numbers_for_each_row(autocast, upper):
    run = run_of(precision=autocast)
    x = computed(run, (B, S, WIDTH), "bf16")
    with Watched(run) as watched:
        output = parts.layer_norm(run, x, "norm")
    name = "NativeLayerNorm"
    kept = [(name, "input", x.shape, upper), *((name, slot, (B, S, 1), "fp32") for slot in ("result1", "result2"))]
    assert watched.kept == kept
    raised = BYTES[upper] * B * S * WIDTH if upper == "fp32" else 0
    assert watched.stays == watched.peak == raised + BYTES[upper] * B * S * WIDTH + 2 * 4 * B * S
    assert [gradient and gradient[0] for gradient in gradients(run, output)] == [x.shape, (WIDTH,), (WIDTH,)]
    assert set(run.tape.parameters) >= {"norm.weight", "norm.bias"}


@pytest.mark.parametrize("checkpointing", ["none", "full"])
def test_embedded_tokens_ask_for_a_gradient_where_they_are_needed_again(checkpointing):
    run = run_of(arch={"vocabulary": V, "hidden": WIDTH}, checkpointing=checkpointing, method="lora")
    x = parts.embed_tokens(run, run.tape.new((B, S), "int64"), "embed_tokens")
    assert (x.shape, x.is_leaf, x.node is not None) == ((B, S, WIDTH), checkpointing == "full", checkpointing == "full")
    if x.node:
        assert (x.node.name, x.node.saved, x.node.rule(run.tape, x)) == ("InputRequiresGrad", [x.storage], [])


def test_what_is_a_buffer_of_the_model_is_not_kept():
    run = run_of()
    indices = parts.buffer(run, (1, S))
    assert (indices.shape, indices.dtype, indices.parameter.trainable) == ((1, S), "int64", False)


MASKS = [
    # Attention, padding, kind: the mask's shape and dtype, if there is one.
    ("eager", False, "full", ((B, 1, S, S), "bf16")),
    ("eager", True, "full", ((B, 1, S, S), "bf16")),
    ("sdpa", False, "full", None),
    ("sdpa", True, "full", ((B, 1, S, S), "bool")),
    ("sdpa", False, "sliding", ((1, 1, S, S), "bool")),
    ("sdpa", True, "sliding", ((B, 1, S, S), "bool")),
    ("flash", True, "sliding", None),
    ("flash-repeated", True, "full", None),
]


@pytest.mark.parametrize("kind_of, padded, kind, expected", MASKS)
def test_masks(kind_of, padded, kind, expected):
    run = run_of(attention=kind_of, padded=padded, arch={"sliding_window": S})
    mask = parts.causal_mask(run, "bf16", kind)
    assert (mask and (mask.shape, mask.dtype)) == expected
    assert run.mask_dtype == "bf16"
    run.arch.sliding_window = S + 1
    # A window that the sequence does not fill masks nothing.
    if kind == "sliding" and not padded:
        assert parts.causal_mask(run, "bf16", kind) is None
    kinds = parts.causal_masks(run, "bf16", ["sliding", "full", "sliding"])
    assert list(kinds) == ["sliding", "full"]


@pytest.mark.parametrize("kind_of, dtype", [("eager", "bf16"), ("sdpa", "bool")])
def test_masks_of_encoders(kind_of, dtype):
    run = run_of(attention=kind_of)
    assert (parts.padding_mask(run, "bf16"), run.mask_dtype) == (None, None)
    run = run_of(attention=kind_of, padded=True)
    mask = parts.padding_mask(run, "bf16")
    assert (mask.shape, mask.dtype, run.mask_dtype) == ((B, 1, S, S), dtype, "bf16")


@pytest.mark.parametrize("dtype", [None, "fp32"])
def test_rotary_tables_are_made_once_without_the_batch(dtype):
    run = run_of()
    x = computed(run, (B, S, WIDTH), "bf16")
    with Watched(run) as watched:
        cos, sin = parts.rotary_tables(run, x, D, dtype)
    for table in (cos, sin):
        assert (table.shape, table.dtype) == ((1, S, D), dtype or "bf16")
    assert cos.storage is not sin.storage
    # The positions are held, and the angles while both are made; each table is raised from one of fp32.
    item = 2 if dtype is None else 4
    assert watched.stays == 8 * S + 2 * item * S * D
    assert watched.peak == 8 * S + (4 + 4 + 2 * item) * S * D - (0 if dtype is None else 4 * S * D)
