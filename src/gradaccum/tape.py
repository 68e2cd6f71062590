"""A symbolic autograd tape: tensors without values, operations that say what they keep, and the bytes alive at every moment.

A storage is alive as long as some tensor or some node of the graph refers to it, so a model family written with the names
and scopes of its original code has the original's lifetimes.
Nothing here may hold a tensor longer than PyTorch does: rules of the backward pass are made from shapes, never from tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from gradaccum.graph import BYTES, AllArrivedError, Checkpoint, Entry, Meter, Node, Parameter, Rule, Storage, Tensor, Wanted
from gradaccum.layout import Dims, contiguous_strides, fresh_layout


class Scope:
    """A module's name, for as long as it runs."""

    __slots__ = ("name", "names")

    def __init__(self, names: list[str], name: str) -> None:
        self.names, self.name = names, name

    def __enter__(self) -> None:
        self.names.append(self.name)

    def __exit__(self, *_: object) -> None:
        self.names.pop()


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

    def scope(self, name: str) -> Scope:
        """Name the module that is running."""
        return Scope(self.scopes, name)

    def rerun(self, checkpoint: Checkpoint) -> None:
        """Run a checkpointed part a second time, outside the list of nodes, until all it promised is there."""
        self.unpacking = checkpoint
        with suppress(AllArrivedError):
            checkpoint.again()
        self.unpacking = None

    def new(self, shape: Dims, dtype: str, strides: Dims | None = None) -> Tensor:
        """A fresh tensor; ``strides`` are dense in another order of dimensions than usual."""
        elements, dense = fresh_layout(shape)
        return Tensor(shape, strides or dense, dtype, Storage(elements * BYTES[dtype], self.meter))

    def parameter(self, name: str, shape: Sequence[int], dtype: str, *, trainable: bool, quantized: bool = False) -> Tensor:
        """Weights by their full name; asked for twice, they are the same."""
        path = ".".join([*self.scopes, name])
        held = self.parameters.get(path)
        if held is None:
            held = self.parameters[path] = Parameter(path, tuple(shape), dtype, trainable, quantized=quantized)
        # Weights are counted apart: their storage is not on the meter.
        source = held if trainable else None
        return Tensor(held.shape, contiguous_strides(held.shape), dtype, Storage(0, None), source, held)

    def record(
        self, name: str, output: Tensor, inputs: Sequence[Tensor], rule: Rule, kept: Mapping[str, Tensor | None] | None = None
    ) -> Tensor:
        """Put an operation on the tape when a gradient must flow through it; ``kept`` are the tensors it saves, by slot."""
        sources = tuple([tensor.node for tensor in inputs])
        if any(sources):
            node = Node(name, sources, rule)
            output.node = node
            if self.unpacking is not None:
                if kept:
                    self._arrive(self.unpacking, node, {slot: t for slot, t in kept.items() if t is not None})
                return output
            if kept:
                for slot, tensor in kept.items():
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
                self.meter.forget_last()
            raise AllArrivedError

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
            if node.promised:
                # What a checkpoint handed out is the rule's alone; what a node keeps itself goes after all else.
                node.saved.clear()
            if node.wanted:
                self._settle(outgoing, node.wanted)
            del incoming
            node.saved.clear()
            for position, target in enumerate(node.inputs):
                gradient, outgoing[position] = outgoing[position], None
                if gradient is None or target is None:
                    continue
                if isinstance(target, Parameter):
                    self._accumulate(target, gradient, shared=gradient in gradients.values() or gradient in outgoing)
                elif target in gradients:
                    held = gradients.pop(target)
                    # Counting references would answer too, but what counts as one differs between versions of Python.
                    others = (gradient, *gradients.values(), *outgoing)
                    alone = not held.is_view and all(o is None or o.storage is not held.storage for o in others)
                    # Two gradients of one tensor: the later one is added into the first if nobody else looks at that.
                    gradients[target] = held if alone else self.new(gradient.shape, gradient.dtype)
                    del held, others
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

    def _accumulate(self, target: Parameter, gradient: Tensor, *, shared: bool) -> None:
        """The first gradient becomes the buffer, later ones are added to it and die. A sharded buffer is a part of one."""
        if target.waiting is not None:
            gradient = self.new(gradient.shape, gradient.dtype)
            target.waiting = None
        target.uses -= 1
        if target.uses:
            target.waiting = gradient
        elif target.grad is None:
            shard = -(-gradient.storage.size // self.gradient_shards)
            self.meter.gradients += shard
            # Sharded, or wanted by something else too: then the buffer is memory of its own.
            apart = self.gradient_shards > 1 or shared
            target.grad = Storage(shard, self.meter) if apart else gradient.storage
