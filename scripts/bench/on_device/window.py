"""One accumulation window, and the ways to get it wrong that the verdicts must find."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

Loss = Callable[[Any], torch.Tensor]


def accumulate(loss_of: Loss, batches: Iterable[Any], divisor: float, parameters: list[nn.Parameter], broken: str = "") -> None:
    """Leave the window's gradient in `parameters`: the sum of `loss_of` over its micro-batches, by `divisor`."""
    clear(parameters)
    total: Any = 0.0
    for batch in batches:
        if broken == "clearing":
            clear(parameters)
        loss = loss_of(batch)
        if broken != "division":
            loss = loss / divisor
        if broken == "summing":
            total = total + loss
        else:
            loss.backward()
        del loss
    if broken == "summing":
        total.backward()


def clear(parameters: list[nn.Parameter]) -> None:
    """Give the gradient buffers back, as `zero_grad` does."""
    for parameter in parameters:
        parameter.grad = None


def gradient(parameters: Iterable[nn.Parameter]) -> torch.Tensor:
    """All gradients in one vector, in fp64."""
    return torch.cat([parameter.grad.detach().double().flatten() for parameter in parameters])


def relative(found: torch.Tensor, right: torch.Tensor) -> float:
    """Length of the difference over length of the right one."""
    return float((found.double() - right.double()).norm() / right.double().norm())


def split(batch: tuple[torch.Tensor, ...], size: int) -> list[tuple[torch.Tensor, ...]]:
    """The micro-batches of a batch."""
    return list(zip(*(part.split(size) for part in batch), strict=True))
