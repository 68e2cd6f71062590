"""What a model family must say of itself, and what all language models share of it."""

from __future__ import annotations

from typing import Any, Protocol

from gradaccum.architecture import Architecture
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Family(Protocol):
    """A model family: what is made once, its layers, and its end. One file in this folder each."""

    last_differs: bool
    """Whether the gradient that the last layer gets is unlike those of the layers before it."""

    def kinds(self, arch: Architecture) -> tuple[str, ...]:
        """The kind of every layer, in order."""

    def inputs(self, run: Run) -> tuple[Tensor, Tensor]:
        """Input ids and labels, which are on the device all the time."""

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, Any]:
        """The first hidden states, and what all layers share."""

    def shared_by(self, context: Any, kind: str) -> Any:
        """The part of it that layers of one kind share."""

    def layer(self, run: Run, x: Tensor, context: Any, kind: str) -> Tensor:
        """One layer, under the names its original gives its variables: they decide how long a tensor lives."""

    def by_position(self, context: Any) -> tuple[Tensor, ...]:
        """What a layer gets as positional arguments beside its input: checkpointing keeps those too."""

    def end(self, run: Run, x: Tensor) -> Tensor:
        """The model's last hidden states: they stay alive while the loss is computed."""

    def loss(self, run: Run, x: Tensor, labels: Tensor) -> Tensor:
        """Head and loss."""


class Decoder:
    """What all language models here have in common."""

    last_differs = False

    def kinds(self, arch: Architecture) -> tuple[str, ...]:
        """All layers alike, unless some of them attend to a sliding window."""
        if not arch.sliding_layers:
            return ("sliding" if arch.sliding_window else "full",) * arch.layers
        return tuple("sliding" if sliding else "full" for sliding in arch.sliding_layers)

    def shared_by(self, context: Any, kind: str) -> Any:
        """Masks and tables, by kind where there are several."""
        return tuple(part[kind] if isinstance(part, dict) else part for part in context)

    def by_position(self, context: Any) -> tuple[Tensor, ...]:
        """Nothing: masks and tables are passed by name."""
        return ()

    def inputs(self, run: Run) -> tuple[Tensor, Tensor]:
        """Ids and labels."""
        shape = (run.batch, run.length)
        if run.setting.padded:
            run.held["attention_mask"] = run.tape.new(shape, "int64")
        return run.tape.new(shape, "int64"), run.tape.new(shape, "int64")
