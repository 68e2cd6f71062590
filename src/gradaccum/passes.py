"""A micro-batch on the tape: its forward pass, cut into segments, and its backward pass over the same ones.

A layer of each kind is written down twice at most, as the first and as a later one, and counted as often as it occurs,
so the cost does not grow with depth. (The first one differs: it meets the tables all layers share, and without a gradient
before it.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradaccum.architecture import Architecture
from gradaccum.families.family import Family
from gradaccum.families.run import Run
from gradaccum.graph import Checkpoint, Counted, Entry, Node, Storage, Tensor
from gradaccum.spans import Span
from gradaccum.tape import Tape


@dataclass(frozen=True)
class Kept:
    """A storage kept for the backward pass, in ``times`` layers alike."""

    entry: Entry
    times: int

    @property
    def size(self) -> int:
        """Bytes in all those layers."""
        return self.entry.size * self.times


def groups_of(family: Family, architecture: Architecture) -> list[tuple[str, int]]:
    """The layers to write down, by name ``first.KIND``, ``KIND`` and ``last.KIND``, and how often each occurs."""
    kinds = family.kinds(architecture)
    middle, last = (kinds[1:-1], kinds[-1:]) if family.last_differs and len(kinds) > 1 else (kinds[1:], ())
    groups = [(f"first.{kinds[0]}", 1)]
    groups += [(kind, middle.count(kind)) for kind in dict.fromkeys(middle)]
    return groups + [(f"last.{kind}", 1) for kind in last]


class Timer:
    """Measures a segment from here on."""

    def __init__(self, tape: Tape) -> None:
        self.meter = tape.meter
        self.meter.restart()
        self.start, self.gradients = self.meter.live, self.meter.gradients

    def span(self, times: int) -> Span:
        """What has happened since."""
        meter = self.meter
        buffers = (self.gradients, meter.gradients_at_peak, meter.gradients)
        heights = tuple(meter.heights), tuple(meter.rest_heights)
        return Span(self.start, meter.peak, meter.live, buffers, meter.rest_peak, times, *heights)


class Pass:
    """One forward pass, cut into segments: the embedding, each kind of layer, the head with the loss."""

    def __init__(self, run: Run, family: Family, inputs: tuple[Tensor, Tensor]) -> None:
        self.run, self.family, self.inputs = run, family, inputs
        self.spans: list[Span] = []
        self.exits: list[Span] = []
        self.marks: list[int] = []
        self.ledger: list[Kept] = []
        self.groups = groups_of(family, run.arch)
        self.shared: dict[str, Any] = {}
        """What checkpointed layers of a kind hold together, until the first of them is done with."""

    @property
    def parameters(self) -> Counted:
        """All that were met, each with the number of layers that have one like it."""
        times = dict(self.groups)
        return tuple((p, times.get(p.name.partition(":")[0], 1)) for p in self.run.tape.parameters.values())

    def forward(self) -> Tensor:
        """Write the pass down; the loss that comes out holds the graph."""
        run, tape = self.run, self.run.tape
        tape.autocast = run.setting.autocast
        tape.ledger.clear()
        self._timer = Timer(tape)
        x, context = self.family.start(run, self.inputs[0])
        run.held["embedded"] = x
        self._close(1)
        shared: Any = None
        for name, times in self.groups:
            kind = name.rpartition(".")[2]
            shared = self.family.shared_by(context, kind)
            with tape.scope(f"{name}:"):
                if run.setting.checkpointing == "full":
                    self.shared[kind] = shared
                    x = self.checkpointed(x, shared, kind)
                else:
                    x = self.family.layer(run, x, shared, kind)
            run.held.pop("attention_weights", None)
            self._close(times)
        x = self.family.end(run, x)
        # What the model's own forward pass still had names for.
        del context, shared
        for name in run.held.keys() - {"attention_mask"}:
            del run.held[name]
        loss = self.family.loss(run, x, self.inputs[1])
        del x
        self._close(1)
        self._leave_autocast()
        return loss

    def backward(self, loss: Tensor) -> list[Span]:
        """Run it backwards, segment by segment; what is left of the graph goes with the window."""
        tape, spans = self.run.tape, []
        # The engine holds the gradient it starts from until the end.
        ones = [tape.new((), loss.dtype)]
        gradients = {loss.take_node(): ones[0]}
        tape.autocast = None
        kinds = [name.rpartition(".")[2] for name, _ in self.groups]
        for number, until in reversed(list(enumerate([0, *self.marks[:-1]]))):
            timer = Timer(tape)
            gradients = tape.backward(gradients, until)
            if number == 0:
                # What is left belongs to inputs that asked for a gradient nobody uses.
                gradients.clear()
                ones.clear()
            spans.append(timer.span(self.spans[number].times))
            # Shared by all layers of a kind, and freed once, not with each of them.
            for kind in self.shared.keys() - set(kinds[: max(0, number - 1)]):
                timer = Timer(tape)
                del self.shared[kind]
                spans.append(timer.span(1))
        return spans

    def checkpointed(self, x: Tensor, context: object, kind: str) -> Tensor:
        """A layer that keeps its input alone and is run again in the backward pass."""
        checkpoint = keep_inputs(self.run, self.family, x, context, kind)
        self.run.tape.packing = checkpoint
        output = self.family.layer(self.run, x, context, kind)
        self.run.tape.packing = None
        return output

    def _leave_autocast(self) -> None:
        """Free the cached casts of weights, those of a repeated layer as often as it occurs."""
        cache = self.run.tape.autocast_cache
        times = dict(self.groups)
        for layer in dict.fromkeys(name.partition(":")[0] for name in cache):
            timer = Timer(self.run.tape)
            for name in [name for name in cache if name.partition(":")[0] == layer]:
                del cache[name]
            self.exits.append(timer.span(times.get(layer, 1)))

    def _close(self, times: int) -> None:
        tape = self.run.tape
        self.spans.append(self._timer.span(times))
        self.marks.append(len(tape.nodes))
        self.ledger += [Kept(entry, times) for entry in tape.ledger]
        tape.ledger.clear()
        self._timer = Timer(tape)


class LedgerPass(Pass):
    """A forward pass of which only the ledger is wanted: a checkpointed layer like an earlier one need not run for that."""

    def __init__(self, run: Run, family: Family, inputs: tuple[Tensor, Tensor]) -> None:
        super().__init__(run, family, inputs)
        self.outputs: dict[tuple[object, ...], Tensor] = {}
        self.skipped: list[Checkpoint] = []

    def checkpointed(self, x: Tensor, context: object, kind: str) -> Tensor:
        """What comes out looks like what came out for an input that looked the same."""
        like = (kind, x.shape, x.strides, x.dtype, x.node is None)
        if like not in self.outputs:
            self.outputs[like] = super().checkpointed(x, context, kind)
            return self.outputs[like]
        self.skipped.append(keep_inputs(self.run, self.family, x, context, kind))
        output = self.outputs[like]
        return Tensor(
            output.shape, output.strides, output.dtype, Storage(output.storage.size, self.run.tape.meter), output.node
        )


def keep_inputs(run: Run, family: Family, x: Tensor, context: object, kind: str) -> Checkpoint:
    """What goes into a layer is kept, for the layer to run again."""
    tape, scope = run.tape, tuple(run.tape.scopes)
    shape, strides, dtype, storage = x.shape, x.strides, x.dtype, x.storage
    source = x.node if x.is_leaf or x.node is None else Node("CheckpointInput", (None,), lambda _, __: [])

    def again() -> None:
        (tape.autocast, tape.scopes), before = (run.setting.autocast, list(scope)), tape.scopes
        try:
            family.layer(run, Tensor(shape, strides, dtype, storage, source), context, kind)
        finally:
            tape.autocast, tape.scopes = None, before
            run.held.pop("attention_weights", None)
            tape.autocast_cache.clear()

    checkpoint = Checkpoint(again, [x.storage])
    tape.keep("Checkpoint", "hidden_states", x)
    for number, tensor in enumerate(family.by_position(context), 2):
        tape.keep("Checkpoint", f"argument{number}", tensor)
    positions = run.held.get("position_ids")
    checkpoint.held += [positions.storage] if positions else []
    return checkpoint
