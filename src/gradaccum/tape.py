"""A symbolic autograd tape: tensors without values, operations that say what they keep, and the bytes alive at every moment.

Memory is freed as in PyTorch: when the last reference dies. A ``Storage`` is alive as long as some ``Tensor`` or some node
of the graph refers to it, so a model family written with the names and scopes of its original code has the original's
lifetimes.
Nothing here may hold a tensor longer than PyTorch does: rules of the backward pass are made from shapes, never from tensors.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from gradaccum.layout import Dims, contiguous_strides, is_contiguous

BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "int64": 8, "int32": 4, "bool": 1, "uint64": 8}


ALONE = 2
"""References to a storage that one tensor alone looks at, while they are being counted."""
SOLE = 3
"""References to a gradient on its way into a buffer: the loop's, the method's and the counting one's."""


class Meter:
    """Bytes alive now, and the most there were since the last ``restart``; how many of either are gradient buffers."""

    heights: Sequence[int] = ()
    """Every height since the last ``restart``, where somebody wants to know (see ``batches``)."""

    def __init__(self) -> None:
        self.live = self.peak = self.peak_before = 0
        self.gradients = self.gradients_at_peak = 0

    def add(self, size: int) -> None:
        """Count an allocation."""
        self.live += size
        self.peak_before = self.peak
        if self.live > self.peak:
            self.peak, self.gradients_at_peak = self.live, self.gradients

    def restart(self) -> None:
        """Forget the peak."""
        self.peak, self.gradients_at_peak = self.live, self.gradients


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


@dataclass(slots=True, eq=False)
class Node:
    """One step of the backward pass: what it keeps, and which gradients it makes of the one it gets.

    ``wanted`` are shape and dtype of the gradients where the rule's may differ: summed over what was broadcast, and cast.
    Inside a ``Checkpoint`` it keeps numbers instead of tensors, of what the checkpoint will hand out.
    """

    name: str
    inputs: tuple[Node | Parameter | None, ...]
    rule: Rule
    wanted: Sequence[Wanted] = ()
    saved: list[Storage] = field(default_factory=list)
    checkpoint: Checkpoint | None = None
    promised: list[int] = field(default_factory=list)


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


class _AllArrivedError(Exception):
    """The second run of a checkpoint has made all it has to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the ledger: a storage kept for the backward pass, by the operation that kept it first."""

    module: str
    operation: str
    slot: str
    shape: Dims
    dtype: str
    size: int


class Tape:
    """Records operations, what they keep and what is alive."""

    def __init__(self, autocast: str | None = None, gradient_shards: int = 1, meter: Meter | None = None) -> None:
        self.autocast = autocast
        self.gradient_shards = gradient_shards
        self.meter = meter or Meter()
        self.nodes: list[Node] = []
        self.parameters: dict[str, Parameter] = {}
        self.ledger: list[Entry] = []
        self.packing: Checkpoint | None = None
        self.unpacking: Checkpoint | None = None
        self.autocast_cache: dict[str, Tensor] = {}
        self._kept: set[int] = set()
        self.scopes: list[str] = []

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Name the module that is running."""
        self.scopes.append(name)
        yield
        self.scopes.pop()

    def rerun(self, checkpoint: Checkpoint) -> None:
        """Run a checkpointed part a second time, outside the list of nodes, until all it promised is there."""
        self.unpacking = checkpoint
        with suppress(_AllArrivedError):
            checkpoint.again()
        self.unpacking = None

    def new(self, shape: Dims, dtype: str, strides: Dims | None = None) -> Tensor:
        """A fresh tensor; ``strides`` are dense in another order of dimensions than usual."""
        storage = Storage(math.prod(shape) * BYTES[dtype], self.meter)
        return Tensor(shape, strides or contiguous_strides(shape), dtype, storage)

    def parameter(self, name: str, shape: Sequence[int], dtype: str, *, trainable: bool, quantized: bool = False) -> Tensor:
        """Weights by their full name; asked for twice, they are the same."""
        path = ".".join([*self.scopes, name])
        held = self.parameters.setdefault(path, Parameter(path, tuple(shape), dtype, trainable, quantized=quantized))
        # Weights are counted apart: their storage is not on the meter.
        tensor = Tensor(held.shape, contiguous_strides(held.shape), dtype, Storage(0, None))
        tensor.parameter = held
        tensor.node = held if trainable else None
        return tensor

    def record(
        self, name: str, output: Tensor, inputs: Sequence[Tensor], rule: Rule, kept: Mapping[str, Tensor | None] | None = None
    ) -> Tensor:
        """Put an operation on the tape when a gradient must flow through it; ``kept`` are the tensors it saves, by slot."""
        sources = tuple([tensor.node for tensor in inputs])
        if any(sources):
            node = Node(name, sources, rule)
            output.node = node
            if self.unpacking is not None:
                self._arrive(self.unpacking, node, {slot: t for slot, t in (kept or {}).items() if t is not None})
                return output
            for slot, tensor in (kept or {}).items():
                if tensor is not None:
                    self._keep(node, slot, tensor)
            for source in sources:
                if isinstance(source, Parameter):
                    source.uses += 1
            self.nodes.append(node)
        return output

    def _arrive(self, checkpoint: Checkpoint, node: Node, kept: Mapping[str, Tensor]) -> None:
        for tensor in kept.values():
            if tensor.parameter is None:
                checkpoint.found[checkpoint.arrived] = tensor.storage
                node.saved.append(tensor.storage)
            checkpoint.arrived += 1
        if kept and checkpoint.arrived == checkpoint.promised:
            if not any(slot.startswith("result") for slot in kept):
                # Inputs are kept before an operation runs: the run ends without what it returns.
                self.meter.peak = self.meter.peak_before
            raise _AllArrivedError

    def _keep(self, node: Node, slot: str, tensor: Tensor) -> None:
        if self.packing is not None:
            node.checkpoint = self.packing
            node.promised.append(self.packing.promised)
            self.packing.promised += 1
            return
        if tensor.parameter is not None:
            return
        node.saved.append(tensor.storage)
        self.keep(node.name, slot, tensor)

    def keep(self, name: str, slot: str, tensor: Tensor) -> None:
        """Write a storage into the ledger, once."""
        if id(tensor.storage) not in self._kept:
            self._kept.add(id(tensor.storage))
            module = ".".join(self.scopes)
            self.ledger.append(Entry(module, name, slot, tensor.shape, tensor.dtype, tensor.storage.size))

    def backward(self, gradients: dict[Node, Tensor], until: int = 0) -> dict[Node, Tensor]:
        """Run the nodes from the last one down to number ``until``; returns the gradients that wait for earlier nodes."""
        while len(self.nodes) > until:
            node = self.nodes.pop()
            incoming = gradients.pop(node, None)
            if incoming is None:
                continue
            if node.checkpoint is not None:
                node.checkpoint.unpack(self, node)
            outgoing = list(node.rule(self, incoming))
            self._kept.difference_update(map(id, node.saved))
            if node.promised:
                # What a checkpoint handed out is the rule's alone; what a node keeps itself goes after all else.
                node.saved.clear()
            self._settle(outgoing, node.wanted)
            del incoming
            node.saved.clear()
            for position, target in enumerate(node.inputs):
                gradient, outgoing[position] = outgoing[position], None
                if gradient is None or target is None:
                    continue
                if isinstance(target, Parameter):
                    self._accumulate(target, gradient)
                elif target in gradients:
                    gradients[target] = self._sum(gradients.pop(target), gradient)
                else:
                    gradients[target] = gradient
                del gradient
        return gradients

    def _settle(self, outgoing: list[Tensor | None], wanted: Sequence[Wanted]) -> None:
        """Bring gradients to the shape and dtype of what they belong to, one after the other."""
        for position, spec in enumerate(wanted):
            gradient, outgoing[position] = outgoing[position], None
            if gradient is not None and spec is not None:
                if gradient.shape != spec[0]:
                    gradient = self.new(spec[0], gradient.dtype)
                if gradient.dtype != spec[1]:
                    gradient = self.new(*spec)
            outgoing[position] = gradient
            del gradient

    def _sum(self, held: Tensor, arrived: Tensor) -> Tensor:
        """Two gradients of one tensor: the later one is added into the first if nobody else looks at that."""
        if not held.is_view and sys.getrefcount(held.storage) <= ALONE:
            return held
        return self.new(arrived.shape, arrived.dtype)

    def _accumulate(self, target: Parameter, gradient: Tensor) -> None:
        """The first gradient becomes the buffer, later ones are added to it and die. A sharded buffer is a part of one."""
        if target.waiting is not None:
            gradient = self.new(gradient.shape, gradient.dtype)
            target.waiting = None
        target.uses -= 1
        if target.uses:
            target.waiting = gradient
        elif target.grad is None:
            size = gradient.storage.size
            shard = -(-size // self.gradient_shards)
            if self.gradient_shards > 1:
                target.grad = Storage(shard, self.meter)
            elif sys.getrefcount(gradient) > SOLE:
                # Something else waits for the same tensor, so the buffer is a copy.
                target.grad = Storage(size, self.meter)
            else:
                target.grad = gradient.storage
            self.meter.gradients += shard
