"""A tiny language model, sequences of unequal length, and the gradient that the whole batch has."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook
from transformers import LlamaConfig, LlamaForCausalLM

VOCABULARY = 61
CONFIG = LlamaConfig(
    vocab_size=VOCABULARY,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    attn_implementation="eager",
)


def build_model(dtype: torch.dtype = torch.float64) -> LlamaForCausalLM:
    """The same weights every time."""
    torch.manual_seed(0)
    return LlamaForCausalLM(CONFIG).to(dtype)


def samples(count: int) -> list[dict[str, list[int]]]:
    """Sequences of 4 to 24 tokens; the first token of each is its own number, by which it can be told from the others."""
    words = random.Random(1)  # noqa: S311 - made-up text
    return [
        {"input_ids": [index, *(words.randrange(VOCABULARY) for _ in range(words.randrange(3, 24)))]} for index in range(count)
    ]


def whole_batch_gradient(batch: list[dict[str, list[int]]]) -> torch.Tensor:
    """The gradient of the mean loss over all targets of all samples at once, as one vector."""
    model = build_model()
    losses = []
    for sample in batch:
        tokens = torch.tensor([sample["input_ids"]])
        logits = model(input_ids=tokens).logits
        losses.append(nn.functional.cross_entropy(logits[0, :-1], tokens[0, 1:], reduction="sum"))
    mean = sum(losses) / sum(len(sample["input_ids"]) - 1 for sample in batch)
    return torch.cat([gradient.flatten() for gradient in torch.autograd.grad(mean, list(model.parameters()))])


def full(gradient: torch.Tensor) -> torch.Tensor:
    """A gradient in one piece, wherever its shards are."""
    return gradient.full_tensor() if hasattr(gradient, "full_tensor") else gradient


@contextlib.contextmanager
def recorded_updates(model: nn.Module) -> Iterator[list[torch.Tensor]]:
    """The gradient that each optimizer step used, as one vector; seen after it, since Lightning ends its window inside."""
    found: list[torch.Tensor] = []

    size = sum(parameter.numel() for parameter in model.parameters())

    def record(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        given = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        # ZeRO hands its optimizer flat pieces instead, filled up at their end.
        given = given or [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        vector = torch.cat([full(gradient).detach().double().flatten() for gradient in given])[:size]
        # An optimizer that wraps another one steps twice, on the same gradient.
        if not found or not torch.equal(vector, found[-1]):
            found.append(vector)

    handle = register_optimizer_step_post_hook(record)
    try:
        yield found
    finally:
        handle.remove()


class Recording:
    """A collate function that remembers which samples went into each micro-batch."""

    def __init__(self, collate: Any) -> None:
        self.collate = collate
        self.micro_batches: list[list[int]] = []

    def __call__(self, chosen: list[dict[str, list[int]]]) -> Any:
        """The micro-batch of these samples."""
        self.micro_batches.append([sample["input_ids"][0] for sample in chosen])
        return self.collate(chosen)
