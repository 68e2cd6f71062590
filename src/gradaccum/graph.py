"""What the tape is made of: storages that are counted while they live, tensors on them, steps of the backward pass.

Memory is freed as in PyTorch: when the last reference dies. A ``Storage`` is alive as long as some ``Tensor`` or some node
of the graph refers to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from gradaccum.layout import Dims, is_contiguous

if TYPE_CHECKING:
    from gradaccum.tape import Tape

BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "int64": 8, "int32": 4, "bool": 1, "uint64": 8}


class Meter:
    """Bytes alive now, and the most there were since the last ``restart``; how many of either are gradient buffers.

    ``rest_peak`` is the most there was beside gradient buffers: where they exist already, that is what comes on top of them.
    """

    heights: Sequence[int] = ()
    """Every height since the last ``restart``, where somebody wants to know (see ``symbols``); ``rest_heights`` likewise."""
    rest_heights: Sequence[int] = ()

    def __init__(self) -> None:
        self.live = self.peak = self.rest_peak = 0
        self.gradients = self.gradients_at_peak = 0
        self._peak_before = self._rest_peak_before = 0

    def add(self, size: int) -> None:
        """Count an allocation."""
        self.live = live = self.live + size
        self._peak_before, self._rest_peak_before = peak, rest_peak = self.peak, self.rest_peak
        if live > peak:
            self.peak, self.gradients_at_peak = live, self.gradients
        if live - self.gradients > rest_peak:
            self.rest_peak = live - self.gradients

    def forget_last(self) -> None:
        """Forget that the last allocation was a peak."""
        self.peak, self.rest_peak = self._peak_before, self._rest_peak_before

    def restart(self) -> None:
        """Forget the peaks."""
        self.peak, self.gradients_at_peak = self.live, self.gradients
        self.rest_peak = self.live - self.gradients


class Storage:
    """Memory of one allocation; several tensors may look at it."""

    __slots__ = ("meter", "size")

    def __init__(self, size: int, meter: Meter | None) -> None:
        self.size, self.meter = size, meter
        if meter:
            meter.add(size)

    def __del__(self) -> None:
        if self.meter:
            self.meter.live -= self.size


@dataclass(slots=True, eq=False)
class Parameter:
    """A leaf: weights, and the gradient buffer that the first backward pass leaves behind.

    Weights used twice (an embedding tied to the head) sum the gradients of all uses before they reach the buffer: ``waiting``.
    """

    name: str
    shape: Dims
    dtype: str
    trainable: bool
    grad: Storage | None = None
    quantized: bool = False
    uses: int = 0
    waiting: Tensor | None = None

    @property
    def count(self) -> int:
        """Elements."""
        return math.prod(self.shape)


Counted = tuple[tuple[Parameter, int], ...]
"""Parameters, each with the number of layers that have one like it."""


@dataclass(slots=True, eq=False)
class Tensor:
    """A view of a storage. ``node`` is what computed it, when a gradient will flow back to it."""

    shape: Dims
    strides: Dims
    dtype: str
    storage: Storage
    node: Node | Parameter | None = None
    parameter: Parameter | None = None
    is_view: bool = False

    @property
    def is_leaf(self) -> bool:
        """Whether it asked for its gradient itself: weights, and inputs that are made to."""
        return isinstance(self.node, Parameter) or (self.node is not None and not self.node.inputs)

    @property
    def size(self) -> int:
        """Bytes of a dense tensor of this shape."""
        return math.prod(self.shape) * BYTES[self.dtype]

    @property
    def contiguous(self) -> bool:
        """Whether it lies in memory as a fresh tensor would."""
        return is_contiguous(self.shape, self.strides)

    def take_node(self) -> Node:
        """The step that computed it, which the tensor lets go. Errors: ``TypeError`` for a tensor that no step computed."""
        node, self.node = self.node, None
        if not isinstance(node, Node):
            raise TypeError("no gradient flows back to this tensor")
        return node


Rule = Callable[["Tape", Tensor], Sequence[Tensor | None]]
Wanted = tuple[Dims, str] | None


class Node:
    """One step of the backward pass: what it keeps, and which gradients it makes of the one it gets.

    ``wanted`` are shape and dtype of the gradients where the rule's may differ: summed over what was broadcast, and cast.
    Inside a ``Checkpoint`` it keeps numbers instead of tensors, of what the checkpoint will hand out.
    """

    __slots__ = ("checkpoint", "inputs", "name", "promised", "rule", "saved", "wanted")

    def __init__(self, name: str, inputs: tuple[Node | Parameter | None, ...], rule: Rule) -> None:
        self.name, self.inputs, self.rule = name, inputs, rule
        self.wanted: Sequence[Wanted] = ()
        self.saved: list[Storage] = []
        self.checkpoint: Checkpoint | None = None
        self.promised: list[int] = []


@dataclass(slots=True, eq=False)
class Checkpoint:
    """A part of the forward pass that keeps what goes into it, and runs again when its first node asks for a tensor.

    The second run ends as soon as the last of the ``promised`` tensors is there. Each of them lives until its node has run;
    ``held`` (what went in) as long as any node of the part waits.
    Source: ``torch/utils/checkpoint.py`` of PyTorch 2.13, ``use_reentrant=False``.
    """

    again: Callable[[], None]
    held: list[Storage] = field(default_factory=list)
    promised: int = 0
    arrived: int = 0
    found: dict[int, Storage] = field(default_factory=dict)

    def unpack(self, tape: Tape, node: Node) -> None:
        """Give the node what it was promised, running the part again if this is the first to ask."""
        if not self.arrived:
            tape.rerun(self)
        node.saved += [self.found.pop(number) for number in node.promised if number in self.found]
        node.checkpoint = None


class AllArrivedError(Exception):
    """The second run of a checkpoint has made all it has to."""


class Entry(NamedTuple):
    """A line of the ledger: a storage kept for the backward pass, by the operation that kept it first."""

    module: str
    operation: str
    slot: str
    shape: Dims
    dtype: str
    size: int
