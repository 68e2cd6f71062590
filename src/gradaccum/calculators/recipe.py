"""Calculator ``recipe``: the settings and the loop that give a framework this effective batch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradaccum import accumulation as core
from gradaccum.calculators.batch_split import CALCULATOR as BATCH_SPLIT
from gradaccum.calculators.batch_split import check_enough, split_answer
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Values
from gradaccum.errors import InputError
from gradaccum.recipes import FRAMEWORKS, PRECISIONS, STAGES, Framework, Run, files, sharding

SPOKEN = ("divides", "reduces", "last_window", "counts")
"""What is said of every framework: its divisor, its reductions, its incomplete window, the unit of its counters."""


def _check_choice(field: str, allowed: tuple[str, ...], framework: Framework, values: Values) -> None:
    if field in values and values[field] not in allowed:
        known = ", ".join(allowed)
        named = {"value": values[field], "known": known, "framework": framework.name}
        raise InputError(field, "unknown_value", "framework_choice", **named)


def _check_sharding(values: Values) -> None:
    framework = FRAMEWORKS[values["framework"]]
    _check_choice("sharding", framework.sharding, framework, values)


def _check_precision(values: Values) -> None:
    framework = FRAMEWORKS[values["framework"]]
    _check_choice("precision", framework.precisions, framework, values)


def _run(values: Values, split: dict[str, int]) -> Run:
    norm = values.get("max_grad_norm")
    return Run(
        **split,
        precision=values.get("precision"),
        checkpointing=values.get("checkpointing"),
        sharding=values.get("sharding"),
        max_grad_norm=None if norm is None else float(norm),
    )


def framework_notes(framework: Framework, run: Run) -> list[Note]:
    """What the framework does by itself, and what the reader's settings bring with them."""
    stage = sharding(framework, run)
    spoken = FRAMEWORKS["fsdp2"] if framework.name == "pytorch" and stage in ("zero2", "zero3") else framework
    notes = [Note(f"{spoken.name}_{what}", {"version": spoken.version} if what == "divides" else {}) for what in SPOKEN]
    by_engine = framework.name == "deepspeed" or (framework.name in ("trainer", "accelerate") and stage != "none")
    half = (run.precision or "").startswith("bf16")
    conditional = {
        "trainer_clips_at_one": framework.name == "trainer" and run.max_grad_norm is None,
        "deepspeed_clips_at_one": by_engine and framework.name != "trainer" and run.max_grad_norm is None,
        "zero_reduces_every_time": by_engine and stage in ("zero2", "zero3"),
        "deepspeed_master_weights": by_engine and half and stage != "none",
        "half_gradient_buffer": (not by_engine or stage == "none") and half and run.precision != "bf16-mixed",
        "replicas_in_one_batch": framework.name in ("keras", "optax") and run.replicas > 1,
        "read_in_source": framework.name in ("trainer", "accelerate") and by_engine,
    }
    return notes + [Note(code) for code, holds in conditional.items() if holds]


def _answer(values: Values) -> Answer:
    split = split_answer(values)
    framework, run = FRAMEWORKS[values["framework"]], _run(values, split.outputs)

    def worded(language: str) -> dict[str, Any]:
        return {"files": [vars(file) for file in files(framework, run, language)]}

    return replace(split, notes=split.notes + framework_notes(framework, run), worded=worded)


CALCULATOR = Calculator(
    name="recipe",
    fields=(
        Field("framework", "choice", required=True, example="pytorch", choices=tuple(FRAMEWORKS)),
        Field("effective_batch", "count", "E", example="512"),
        Field("micro_batch", "count", "b", example="4"),
        Field("accumulation_steps", "count", "a"),
        Field("replicas", "count", "g", example="2"),
        Field("precision", "choice", example="bf16-mixed", choices=PRECISIONS),
        Field("max_grad_norm", "number", example="1"),
        Field("checkpointing", "choice", choices=("none", "full"), group="more"),
        Field("sharding", "choice", choices=STAGES, group="more"),
    ),
    outputs=(*BATCH_SPLIT.outputs, Output("files", "files")),
    answer=_answer,
    checks=(
        Check(core.SPLIT, check_enough),
        Check(("framework", "sharding"), _check_sharding),
        Check(("framework", "precision"), _check_precision),
    ),
)
