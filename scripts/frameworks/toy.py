"""A model of one weight whose gradient is the mean of what it is shown, so that every update tells what went into it.

Ten micro-batches show 1 to 10; windows hold four, and two are left over. Two epochs, in order. A framework that divides by the
steps and by what is there finds 2.5, 6.5, 9.5 in each epoch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils.data import DataLoader

STEPS, EPOCHS = 4, 2
SHOWN = [float(value) for value in range(1, 11)]
# Two micro-batches of one window: 2 targets with a loss of 4 each, 8 targets with a loss of 1 each.
UNEQUAL = [[4.0] * 2, [1.0] * 8]


class Weight(nn.Module):
    """loss = w * mean(x): its gradient is the mean of the targets shown."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The mean loss over the targets."""
        return (self.weight * x.mean()).sum()


def loader(shown: list[Any]) -> DataLoader[Any]:
    """Micro-batches of one sample, in order."""
    return DataLoader(shown, batch_size=1, collate_fn=lambda rows: torch.tensor(rows[0]).reshape(-1))  # type: ignore[arg-type]


@contextlib.contextmanager
def recorded(schedules: list[Any] | None = None) -> Iterator[list[dict[str, float]]]:
    """The gradient of every update, and how often the schedule had stepped before it."""
    found: list[dict[str, float]] = []

    def record(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        gradient = optimizer.param_groups[0]["params"][0].grad
        steps = schedules[0].last_epoch if schedules else 0
        found.append({"gradient": round(float(gradient), 6), "schedule": steps})

    handle = register_optimizer_step_post_hook(record)
    try:
        yield found
    finally:
        handle.remove()


def schedule_of(optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LambdaLR:
    """A schedule that only counts."""
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 0.0)
