"""Claims about what looks across samples: batch normalization, and losses that compare the samples of a batch."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .bench import Bench
from .window import accumulate, gradient, relative, split

Found = dict[str, Any]
SAMPLES, MICRO_BATCH, FEATURES, CHANNELS = 8, 2, 12, 16


def _data(bench: Bench) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(4)
    # Each pair of samples around a mean of its own, so that micro-batches differ as real ones do.
    places = torch.arange(SAMPLES).div(MICRO_BATCH, rounding_mode="floor")[:, None].double()
    inputs = places + torch.randn(SAMPLES, FEATURES, generator=random, dtype=torch.float64)
    return inputs.to(bench.torch), torch.randn(SAMPLES, 3, generator=random, dtype=torch.float64).to(bench.torch)


def _network(bench: Bench, norm: nn.Module) -> nn.Module:
    torch.manual_seed(5)
    layers = nn.Sequential(nn.Linear(FEATURES, CHANNELS), norm, nn.GELU(), nn.Linear(CHANNELS, 3))
    return layers.double().to(bench.torch)


def _gap(bench: Bench, network: nn.Module) -> float:
    """How far the accumulated gradient is from the whole batch's."""
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    gradients = []
    for size, broken in ((SAMPLES, ""), (MICRO_BATCH, bench.broken)):
        parts = split(_data(bench), size)
        accumulate(lambda part: nn.functional.mse_loss(network(part[0]), part[1]), parts, len(parts), parameters, broken)
        gradients.append(gradient(parameters))
    return relative(gradients[1], gradients[0])


def batch_norm(bench: Bench, found: Found) -> None:
    """Normalizations that look at one sample, at the micro-batch, and at frozen statistics."""
    found["layer_norm_error"] = _gap(bench, _network(bench, nn.LayerNorm(CHANNELS)))
    found["group_norm_error"] = _gap(bench, _network(bench, nn.GroupNorm(4, CHANNELS)))
    found["batch_norm_error"] = _gap(bench, _network(bench, nn.BatchNorm1d(CHANNELS)))
    frozen = _network(bench, nn.BatchNorm1d(CHANNELS))
    frozen[1].eval()
    found["frozen_error"] = _gap(bench, frozen)
    variances = []
    for size in (SAMPLES, MICRO_BATCH):
        network = _network(bench, nn.BatchNorm1d(CHANNELS))
        with torch.no_grad():
            for inputs, _ in split(_data(bench), size):
                network(inputs)
        variances.append(network[1].running_var)
    found["running_variance_gap"] = relative(variances[1], variances[0])


def _info_nce(embeddings: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Each row must find its own partner among all partners of the batch."""
    scores = nn.functional.normalize(embeddings) @ nn.functional.normalize(others).T / 0.1
    return nn.functional.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


def contrastive(bench: Bench, found: Found) -> None:
    """A loss over pairs: accumulated plainly, one sample at a time, and with cached embeddings."""
    torch.manual_seed(6)
    towers = [nn.Sequential(nn.Linear(FEATURES, CHANNELS), nn.Tanh(), nn.Linear(CHANNELS, 8)) for _ in range(2)]
    network = nn.ModuleList(towers).double().to(bench.torch)
    parameters = list(network.parameters())
    inputs, _ = _data(bench)
    random = torch.Generator().manual_seed(7)
    pairs = (inputs, inputs + torch.randn(inputs.shape, generator=random, dtype=torch.float64).to(bench.torch))

    def loss(part: tuple[torch.Tensor, ...]) -> torch.Tensor:
        return _info_nce(network[0](part[0]), network[1](part[1]))

    def accumulated(size: int, loss_of: Callable[[Any], torch.Tensor]) -> torch.Tensor:
        parts = split(pairs, size)
        accumulate(loss_of, parts, len(parts), parameters, bench.broken)
        return gradient(parameters)

    accumulate(loss, [pairs], 1, parameters)
    whole = gradient(parameters)
    found["plain_error"] = relative(accumulated(MICRO_BATCH, loss), whole)
    found["single_sample_gradient"] = float(accumulated(1, loss).norm())
    found["cached_error"] = relative(_cached(network, pairs, parameters, bench.broken), whole)


def _cached(network: nn.Module, pairs: Any, parameters: list[nn.Parameter], broken: str) -> torch.Tensor:
    """Embed without a graph, take the loss's gradient for the embeddings, then run again piece by piece with that gradient."""
    with torch.no_grad():
        embedded = [tower(side) for tower, side in zip(network, pairs, strict=True)]
    leaves = [one.requires_grad_() for one in embedded]
    _info_nce(*leaves).backward()
    pieces = split((*pairs, *(leaf.grad for leaf in leaves)), MICRO_BATCH)

    def stand_in(piece: tuple[torch.Tensor, ...]) -> torch.Tensor:
        return sum((network[side](piece[side]) * piece[side + 2]).sum() for side in range(2))

    accumulate(stand_in, pieces, 1, parameters, broken)
    return gradient(parameters)
