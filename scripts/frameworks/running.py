"""A recipe as the calculator gives it, loaded as a module and run."""

from __future__ import annotations

import os
import sys
import types
from typing import Any

import torch

from frameworks import tiny
from gradaccum import api


def files(**inputs: Any) -> dict[str, str]:
    """The texts of a recipe's files by name."""
    answer = api.answer({"calculator": "recipe", "inputs": inputs})
    if not answer["ok"]:
        raise ValueError(answer["errors"])
    return {file["name"]: file["text"] for file in answer["outputs"]["files"]}


def module(**inputs: Any) -> types.ModuleType:
    """The recipe's main file, imported: what stands under its ``__main__`` does not run."""
    loaded = types.ModuleType("recipe")
    # Classes of a recipe look their own module up.
    sys.modules["recipe"] = loaded
    exec(compile(files(**inputs)["train.py"], "train.py", "exec"), loaded.__dict__)  # noqa: S102 - our own recipe
    return loaded


def run_torch(inputs: dict[str, Any], dataset: list[dict[str, list[int]]], **settings: Any) -> dict[str, Any]:
    """Train one epoch at a rate of zero: the micro-batches that went in, and the gradient that every update found."""
    if inputs["framework"] == "deepspeed":
        skip_shared_memory()
    elif inputs["framework"] == "accelerate" and "WORLD_SIZE" not in os.environ:
        _forget_accelerator()
    recipe = module(**inputs)
    collate = tiny.Recording(recipe.collate)
    # DeepSpeed reduces no float64.
    model = tiny.build_model(torch.float32 if inputs["framework"] == "deepspeed" else torch.float64)
    with (
        tiny.recorded_updates(model) as gradients,
        torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen,
    ):
        recipe.train(model, dataset, collate, learning_rate=0.0, **settings)
    calls = {event.key: event.count for event in seen.key_averages() if event.key.startswith("c10d::")}
    return {"micro_batches": collate.micro_batches, "gradients": gradients, "calls": calls}


def skip_shared_memory() -> None:
    """DeepSpeed on a CPU would first compile a faster way for ranks of one machine to talk, which takes minutes."""
    import deepspeed  # noqa: F401, PLC0415 - loads what is replaced

    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # type: ignore[attr-defined]


def _forget_accelerator() -> None:
    """Accelerate keeps one state for each process."""
    from accelerate.state import AcceleratorState, GradientState  # noqa: PLC0415

    AcceleratorState._reset_state(reset_partial_state=True)  # noqa: SLF001
    GradientState._reset_state()  # noqa: SLF001
