"""What is trained: a model, its micro-batches, and the losses of a step."""

import importlib
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gradaccum.errors import InputError

from .prepare import prepared
from .session import Session

Batch = Any
DTYPES = {
    "bf16": torch.bfloat16,
    "fp32": torch.float32,
    "bf16-mixed": torch.float32,
    "fp16-mixed": torch.float32,
    "bf16-autocast": torch.bfloat16,
}


@dataclass
class Subject:
    """A model, what makes a micro-batch of b samples, and what turns one into losses, each of which gets a backward pass."""

    model: nn.Module
    batch: Callable[[int], Batch]
    step: Callable[[nn.Module, Batch], Any]

    @property
    def trainable(self) -> list[nn.Parameter]:
        """What the optimizer updates."""
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]


class Losses:
    """The losses of one micro-batch in turn; nothing of a model's output but the loss is held."""

    def __init__(self, subject: Subject, batch: Batch) -> None:
        self._begin: Callable[[], Any] | None = lambda: subject.step(subject.model, batch)
        self._rest: Iterator[Any] = iter(())

    def next(self) -> torch.Tensor | None:
        """The next loss, or None after the last."""
        if self._begin is None:
            found = next(self._rest, None)
            return None if found is None else _loss(found)
        found, self._begin = self._begin(), None
        if not isinstance(found, types.GeneratorType):
            return _loss(found)
        self._rest = found
        return self.next()


def _loss(found: Any) -> torch.Tensor:
    loss = found.get("loss") if isinstance(found, dict) else getattr(found, "loss", found)
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or not loss.requires_grad:
        raise InputError("source", "wrong_type", "loss", found=type(found).__name__)
    return loss


def call(model: nn.Module, batch: Batch) -> Any:
    """The step of a model that gives its own loss: a micro-batch as keyword, positional or only argument."""
    if isinstance(batch, dict):
        return model(**batch)
    return model(*batch) if isinstance(batch, (tuple, list)) else model(batch)


def from_function(session: Session, request: dict[str, Any]) -> Subject:
    """What the reader's ``package.module:function`` returns: a model, a batch maker, and perhaps a step."""
    function = _function(request["source"])
    options = {}
    if "sequence_length" in request:
        if "sequence_length" not in inspect.signature(function).parameters:
            raise InputError("sequence_length", "unknown_value", "not_taken", value=request["sequence_length"])
        options["sequence_length"] = request["sequence_length"]
    with session.making():
        made = function(**options)
    if not isinstance(made, (tuple, list)) or len(made) not in (2, 3) or not isinstance(made[0], nn.Module):
        raise InputError("source", "wrong_type", "made", found=type(made).__name__)
    model, batch, *step = made
    if not all(callable(one) for one in (batch, *step)):
        raise InputError("source", "wrong_type", "made", found=type(made).__name__)
    dtype = DTYPES.get(request.get("precision", ""))
    if dtype is not None:
        model = model.to(dtype)

    def make(micro_batch: int) -> Batch:
        with session.making():
            return _cast(batch(micro_batch), dtype if not session.autocast_dtype else None)

    return Subject(prepared(model, session, request), make, step[0] if step else call)


def _function(source: str) -> Callable[..., Any]:
    module_name, _, name = source.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # What the reader's module imports in turn is another matter than the module itself.
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise InputError("source", "unknown_value", "no_module", value=source, module=module_name) from error
        raise
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise InputError("source", "unknown_value", "no_function", value=source, module=module_name, function=name)
    return found  # type: ignore[no-any-return]


def _cast(batch: Batch, dtype: torch.dtype | None) -> Batch:
    """The micro-batch with its numbers in the model's precision; ids and masks stay as they are."""
    if dtype is None:
        return batch
    if isinstance(batch, torch.Tensor):
        return batch.to(dtype) if batch.is_floating_point() else batch
    if isinstance(batch, dict):
        return {name: _cast(one, dtype) for name, one in batch.items()}
    return type(batch)(_cast(one, dtype) for one in batch) if type(batch) in (tuple, list) else batch
