"""Claims about the gradient of a window on one device, most of them in fp64 and on a model small enough for it."""

import copy
from typing import Any

import torch
from torch import nn

from .bench import Bench
from .models import summed_loss, target_count, tiny, tokens
from .window import accumulate, gradient, relative, split

Found = dict[str, Any]
SAMPLES, MICRO_BATCH = 8, 2


def _whole(model: nn.Module, batch: Any) -> torch.Tensor:
    """The gradient of the whole batch at once."""
    parameters = list(model.parameters())
    accumulate(lambda one: summed_loss(model, one), [batch], target_count(batch), parameters)
    return gradient(parameters)


def _accumulated(model: nn.Module, batch: Any, broken: str) -> torch.Tensor:
    parameters = list(model.parameters())
    accumulate(lambda one: summed_loss(model, one), split(batch, MICRO_BATCH), target_count(batch), parameters, broken)
    return gradient(parameters)


def _equality(bench: Bench, found: Found, dtype: torch.dtype) -> None:
    batch = tokens(bench.torch, SAMPLES, even=False)
    model = tiny(bench.torch, dtype)
    whole, parts = _whole(model, batch), _accumulated(model, batch, bench.broken)
    found |= {
        "micro_batch": MICRO_BATCH,
        "accumulation_steps": SAMPLES // MICRO_BATCH,
        "relative_error": relative(parts, whole),
    }
    if dtype == torch.bfloat16:
        # Against fp64 from the same rounded weights: what rounding does to either, apart from each other.
        exact = _whole(copy.deepcopy(model).double(), batch)
        found |= {"accumulated_rounding": relative(parts, exact), "whole_rounding": relative(whole, exact)}


def fp64(bench: Bench, found: Found) -> None:
    """The accumulated gradient against the whole batch's."""
    _equality(bench, found, torch.float64)


def fp32(bench: Bench, found: Found) -> None:
    """The same in fp32, TF32 off."""
    _equality(bench, found, torch.float32)


def bf16(bench: Bench, found: Found) -> None:
    """The same with weights, gradients and buffer in bf16."""
    _equality(bench, found, torch.bfloat16)


def optimizer_update(bench: Bench, found: Found) -> None:
    """Three updates from accumulated gradients against three from whole batches; then without the division."""
    for name, optimizer in (("adamw", torch.optim.AdamW), ("sgd", torch.optim.SGD)):
        ends = {}
        for way in ("whole", "parts", "undivided"):
            model = tiny(bench.torch, torch.float64)
            start = _weights(model)
            stepper = optimizer(model.parameters(), lr=1e-3, weight_decay=0.0)
            for update in range(3):
                batch = tokens(bench.torch, SAMPLES, seed=10 + update)
                if way == "whole":
                    _whole(model, batch)
                else:
                    _accumulated(model, batch, bench.broken if way == "parts" else "")
                if way == "undivided":
                    for parameter in model.parameters():
                        parameter.grad *= SAMPLES // MICRO_BATCH
                stepper.step()
            ends[way] = _weights(model) - start
        found[f"{name}_error"] = relative(ends["parts"], ends["whole"])
        found[f"{name}_undivided"] = relative(ends["undivided"], ends["whole"])


def _weights(model: nn.Module) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def token_counts(bench: Bench, found: Found) -> None:
    """Rows of different length: divided by the targets of the window, and by the micro-batches alone."""
    batch = tokens(bench.torch, SAMPLES, even=False)
    model = tiny(bench.torch, torch.float64)
    parameters = list(model.parameters())
    whole = _whole(model, batch)
    found["counted_error"] = relative(_accumulated(model, batch, bench.broken), whole)
    parts = split(batch, MICRO_BATCH)
    accumulate(lambda one: summed_loss(model, one) / target_count(one), parts, len(parts), parameters)
    found["mean_of_means_error"] = relative(gradient(parameters), whole)


def dropout(bench: Bench, found: Found) -> None:
    """Other masks, another gradient; on average over many draws the same one."""
    draws = 100
    found["draws"] = draws
    batch = tokens(bench.torch, SAMPLES)
    model = tiny(bench.torch, torch.float64, dropout=0.1)
    torch.manual_seed(3)
    sums = [torch.zeros_like(_whole(model, batch)) for _ in range(2)]
    for draw in range(draws):
        whole, parts = _whole(model, batch), _accumulated(model, batch, bench.broken)
        if draw == 0:
            found["one_draw_gap"] = relative(parts, whole)
        sums[0] += whole
        sums[1] += parts
    found["mean_gap"] = relative(sums[1], sums[0])
    still = tiny(bench.torch, torch.float64)
    found["without_dropout_error"] = relative(_accumulated(still, batch, bench.broken), _whole(still, batch))


def clipping(bench: Bench, found: Found) -> None:
    """Clipped once at the end of the window, and after every micro-batch."""
    batch = tokens(bench.torch, SAMPLES)
    model = tiny(bench.torch, torch.float64)
    parameters = list(model.parameters())
    threshold = float(_whole(model, batch).norm()) / 2
    nn.utils.clip_grad_norm_(parameters, threshold)
    clipped = gradient(parameters)
    _accumulated(model, batch, bench.broken)
    nn.utils.clip_grad_norm_(parameters, threshold)
    found["clipped_once_error"] = relative(gradient(parameters), clipped)
    model.zero_grad()
    for part in split(batch, MICRO_BATCH):
        (summed_loss(model, part) / target_count(batch)).backward()
        nn.utils.clip_grad_norm_(parameters, threshold)
    found["clipped_each_error"] = relative(gradient(parameters), clipped)


def bf16_buffer(bench: Bench, found: Found) -> None:
    """Ones added by autograd to a gradient buffer in bf16 and in fp32."""
    additions = 1024
    found["additions"] = additions
    for name, dtype in (("bf16_sum", torch.bfloat16), ("fp32_sum", torch.float32)):
        weight = torch.zeros((), device=bench.torch, dtype=dtype, requires_grad=True)
        for _ in range(additions):
            (weight * 1).backward()
        found[name] = float(weight.grad)
