"""From a published row to the request that describes the run: one rule for each source, taken from what the source ran.

Nothing here is fitted: every switch follows from the row, from the source's own text, or from the code it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evidence.measured import Row
from evidence.standins import CATALOGUE, STAND_INS

LOSS_HERE, LOSS_OLDER, LOSS_IN_PLACE, LOGITS_HELD = 12, 14, 8, 2
"""Bytes per logit alive at the start of the backward pass.

12: Transformers 5.24, log-softmax and two gradients in fp32. 14: the forward pass of 4.46 to 4.48, which copied the shifted
logits: bf16, fp32, the copy, the log-softmax. 8: a kernel that writes the gradient into its input, in
Transformers 4.45, where that is an fp32 copy shifted by one token, which the shift's own backward step copies once more.
2: logits in bf16, as long as a loop holds the model's outputs through the backward pass.
"""

SHORT = {"sequence_length": "512", "micro_batch": "2", "accumulation_steps": "1"}
"""Where a source says only that rows are short: its recipes' batch, and a length at which activations decide nothing."""


class Unanswered(Exception):  # noqa: N818 - an answer to the question, not a fault
    """A row that the package cannot compute; ``reason`` is the key of the words that say why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class Request:
    """Inputs of ``training_memory``, what is put on top of its answer, and remarks on the run."""

    inputs: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    in_place: bool = False
    held: bool = False
    streamed: bool = False
    fused_step: bool = False


REFUSED = (
    # In this order; the first that fits names the reason.
    ("context", lambda row: row.kind == "context"),
    ("no_figure", lambda row: row.published is None),
    ("sizes", lambda row: not row.hidden or not row.seq or row.seq in ("?", "short", "ms-agent")),
    ("parallel", lambda row: "Megatron-LM" in row.source),
    ("offload", lambda row: "offload" in f"{row.checkpointing} {row.optimizer} {row.notes}"),
    ("paged", lambda row: "Paged" in row.optimizer or "in-backward" in row.optimizer),
    ("optimizer", lambda row: bool(re.search(r"4-?bit|GaLore|LISA", f"{row.optimizer} {row.method}"))),
    ("dora", lambda row: row.method == "dora"),
    ("tables", lambda row: "emb/head" in row.method),
    ("family", lambda row: row.model not in CATALOGUE and row.model not in STAND_INS),
    ("master", lambda row: row.source.startswith("QwenLM") and row.method == "full"),
)


def request_of(row: Row) -> Request:
    """The request that describes a row's run. Errors: ``Unanswered``."""
    reason = next((reason for reason, fits in REFUSED if fits(row)), None)
    if reason:
        raise Unanswered(reason)
    short = row.seq.startswith("alpaca")
    counts = {"sequence_length": row.seq, "micro_batch": row.micro_batch, "replicas": row.gpus}
    counts["accumulation_steps"] = row.accum or "1"
    if short:
        counts |= SHORT
    request = Request(
        _model(row)
        | {name: int(count) for name, count in counts.items()}
        | _method(row)
        | {
            "checkpointing": "none" if row.checkpointing == "none" else "full",
            "attention": "flash" if row.attention in ("flash2", "sdpa/flex") else row.attention,
            "optimizer": _optimizer(row),
            "precision": {"fp32": "fp32", "fp16-amp": "fp16-mixed"}.get(row.precision, "bf16"),
            "sharding": "zero3" if row.gpus != "1" else "none",
        }
    )
    if row.model in STAND_INS:
        request.remarks.append("stand_in")
    if row.gpus != "1":
        request.remarks.append("sharded")
    next(rule for source, rule in RULES.items() if row.source.startswith(source))(row, request)
    return request


def _model(row: Row) -> dict[str, Any]:
    return {"model": CATALOGUE[row.model]} if row.model in CATALOGUE else {"config": STAND_INS[row.model]}


def _method(row: Row) -> dict[str, Any]:
    method = row.method.partition("(")[0]
    return {"method": method, "rank": int(row.rank)} if method != "full" else {"method": method}


def _optimizer(row: Row) -> str:
    names = {"AdamW-8bit": "adamw-8bit", "Adafactor": "adafactor"}
    return next((name for start, name in names.items() if row.optimizer.startswith(start)), "adamw")


# One rule for each source. What it says of its runs, beyond the row, is in the comments.


def _bert(_: Row, request: Request) -> None:
    """The guide's `adamw_hf` works on one tensor at a time; the driver's figure holds the context it names."""
    request.inputs["foreach"] = False
    request.remarks += ["driver_context", "dropout"]


def _torchtune(row: Row, request: Request) -> None:
    """Models and losses of its own: layers compiled where the row says so, a loss in chunks in its recipes."""
    request.inputs["targets"] = ["q_proj", "v_proj", "o_proj"]
    if "+ " not in row.notes:
        request.inputs["loss"] = "fused"
        request.remarks.append("chunked_loss")
    if re.search(r"[Cc]ompile", row.source + row.notes):
        request.remarks.append("compiled")


def _ao(row: Row, request: Request) -> None:
    """The full recipe of torchtune; the fused AdamW has no temporaries, and so has bitsandbytes'."""
    request.fused_step = True
    request.remarks += ["short_rows", "unit_in_doubt"] if "Llama-2" in row.model else []


def _foreach_off(_: Row, request: Request) -> None:
    """The row itself says foreach=False."""
    request.inputs["foreach"] = False
    request.remarks.append("short_rows")


def _fms(row: Row, request: Request) -> None:
    """The Trainer with bf16=True over weights loaded in bf16; adapters in fp32 with dropout; the loss by its configuration."""
    request.inputs["precision"] = "bf16-autocast"
    if row.method != "full":
        request.inputs["targets"] = ["q_proj", "k_proj", "v_proj", "o_proj"]
        request.remarks.append("adapter_dropout")
    plugin = row.notes.partition(";")[0]
    if plugin.endswith("-liger"):
        request.inputs["loss"] = "fused"
        request.remarks.append("fused_loss")
    elif "foak" in plugin:
        request.in_place = True
        request.remarks.append("in_place_loss")
    else:
        request.remarks.append("older_loss")


def _qwen(row: Row, request: Request) -> None:
    """Rows padded to the full length, adapters on all linear layers; the Trainer's bf16 over weights in bf16."""
    request.inputs |= {"precision": "bf16-autocast", "targets": "all-linear"}
    if "gptq" in row.method:
        request.remarks.append("gptq")


def _swift(row: Row, request: Request) -> None:
    """Rows of many lengths, cut at the one named; adapters on the attention's first projections unless the row says ALL."""
    request.inputs["precision"] = "bf16-autocast"
    if row.method != "full":
        request.inputs["targets"] = "all-linear" if "ALL linear" in row.notes else ["q_proj", "k_proj", "v_proj"]
    request.remarks.append("many_lengths")
    if "gptq" in row.method:
        request.remarks.append("gptq")


def _peft(row: Row, request: Request) -> None:
    """`run.py`: no autocast, rows padded to the longest, and the outputs held by a name through the backward pass.

    Its experiment of rank 10 adapts the MLP, the others peft's default for Llama.
    """
    mlp = ["gate_proj", "up_proj", "down_proj"]
    request.inputs |= {"padded": True, "targets": mlp if row.rank == "10" else ["q_proj", "v_proj"]}
    request.held = True
    request.remarks += ["held_logits", "many_lengths"]


def _soup(_: Row, request: Request) -> None:
    """Two layers and the tables are on the device at a time; it counts the bf16 logits among what the loss holds."""
    request.inputs["targets"] = ["q_proj", "v_proj"]
    request.held = request.streamed = True
    request.remarks += ["streamed", "held_logits"]


def _unsloth(_: Row, request: Request) -> None:
    """Transformers with flash attention and adapters on all linear layers; the figure is the device, not the peak."""
    request.inputs |= {"precision": "bf16-autocast", "targets": "all-linear"}
    request.remarks.append("kbit")


RULES: dict[str, Callable[[Row, Request], None]] = {
    "huggingface/transformers": _bert,
    "pytorch/torchtune README": _torchtune,
    "pytorch/ao": _ao,
    "meta-pytorch/torchtune": _foreach_off,
    "foundation-model-stack/fms-acceleration": _fms,
    "QwenLM/Qwen": _qwen,
    "modelscope/ms-swift": _swift,
    "huggingface/peft method_comparison": _peft,
    "MakazhanAlpamys/Soup": _soup,
    "docs.unsloth.ai": _unsloth,
}
