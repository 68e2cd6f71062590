"""The ledger's formulas: each is worth its bytes, and says how they grow with the micro-batch and the length."""

import itertools
import re

import pytest

from gradaccum import api
from gradaccum.families import FAMILIES
from gradaccum.messages import LANGUAGES
from gradaccum.models import chosen
from gradaccum.tables import reason

TINY = {"hidden_size": 72, "intermediate_size": 200, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 264, "num_local_experts": 5, "num_experts_per_tok": 3, "num_experts": 5, "moe_intermediate_size": 56, "sliding_window": None}  # fmt: skip
WAYS = [
    dict(zip(("attention", "checkpointing", "precision", "method", "loss", "padded"), way, strict=True))
    for way in itertools.product(
        ("sdpa", "eager"),
        ("none", "full"),
        ("bf16", "bf16-mixed", "fp32"),
        ("full", "lora"),
        ("standard", "fused"),
        (False, True),
    )
]


def ledger(family, b, s, way):
    inputs = {"config": TINY | {"model_type": family}, "micro_batch": b, "sequence_length": s, "rank": 7} | way
    return api.answer({"calculator": "training_memory", "inputs": inputs})["outputs"]["ledger"]


def worth(formula, family, b, s):
    arch = chosen({"config": TINY | {"model_type": family}})
    names = {"h": arch.hidden, "f": arch.mlp, "V": arch.vocabulary, "H": arch.heads, "K": arch.kv_heads, "d": arch.head_size}
    names |= {"r": 7, "e": arch.experts, "k": arch.experts_per_token, "n": arch.labels, "b": b}
    names["s"] = (arch.image // arch.patch) ** 2 + 1 if arch.image else s
    python = re.sub(r"⌈s/(\d+)⌉", r"(-(-s // \1))", formula).replace("·", "*")
    return eval(python, {"__builtins__": {}}, names)  # noqa: S307 - a product that this package wrote


@pytest.mark.parametrize("family", FAMILIES)
def test_a_formula_is_worth_its_bytes_and_foretells_those_of_another_batch(family):
    """From a micro-batch of 3 to one of 4 with other lengths: with one sample alone some tensors are laid out otherwise."""
    for way in WAYS[:: 3 if family == "llama" else 11]:
        here, there = (ledger(family, *point, way) for point in ((3, 32), (4, 160)))
        assert [worth(row["formula"], family, 3, 32) for row in here] == [row["bytes"] for row in here]
        foretold = sorted(worth(row["formula"], family, 4, 160) for row in here)
        assert foretold == sorted(row["bytes"] for row in there), way


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("b, s", [(1, 33), (2, 44)])
def test_a_formula_is_worth_its_bytes_whatever_the_layout(family, b, s):
    for way in WAYS[::23]:
        for row in ledger(family, b, s, way):
            assert worth(row["formula"], family, b, s) == row["bytes"], row


@pytest.mark.parametrize(
    "kept, formula",
    [
        ("mlp.gate_proj Mm.self", "32·2·b·s·h"),
        ("mlp Silu.self", "32·2·b·s·f"),
        ("input_layernorm Rsqrt.result", "32·4·b·s"),
        ("self_attn ScaledDotProductFlashAttention.key", "32·2·b·K·s·d"),
        ("self_attn ScaledDotProductFlashAttention.logsumexp", "32·4·b·H·s"),
        (" LogSoftmax.result", "4·b·s·V"),
        ("embed_tokens Embedding.indices", "8·b·s"),
        (" NllLoss.target", "8·b·(s + 1)"),
        (" NllLoss.total_weight", "4"),
    ],
)
def test_symbols_of_the_same_value_are_told_apart_by_their_place(kept, formula):
    """This model's hidden size is as large as the length."""
    inputs = {"model": "llama-3-8b", "micro_batch": 1, "sequence_length": 4096}
    rows = api.answer({"calculator": "training_memory", "inputs": inputs})["outputs"]["ledger"]
    found = {f"{row['module']} {row['operation']}.{row['slot']}": row["formula"] for row in rows}
    assert found[kept] == formula


def test_an_expanded_tensor_is_worth_its_storage():
    """One key head for all query heads: what is kept is a view that repeats it."""
    inputs = {"model": "gemma-3-1b", "micro_batch": 2, "sequence_length": 64, "padded": True}
    rows = api.answer({"calculator": "training_memory", "inputs": inputs})["outputs"]["ledger"]
    assert {row["formula"] for row in rows if row["slot"] == "key"} == {"26·2·b·K·s·d"}


def test_every_line_says_why_it_is_kept():
    kept = {(row["operation"], row["slot"]) for family in FAMILIES for way in WAYS[::11] for row in ledger(family, 2, 48, way)}
    assert len(kept) > 30
    assert [(one, language) for one in kept for language in LANGUAGES if not reason(*one, language)] == []
    assert not reason("Unknown", "self", "en")
