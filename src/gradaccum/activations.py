"""One window on the tape: what autograd keeps of a micro-batch, and the bytes alive in each phase.

How the pass is written down stands in ``passes``: each kind of layer once or twice, so the cost does not grow with depth.
"""

from __future__ import annotations

from dataclasses import dataclass

from gradaccum.architecture import Architecture
from gradaccum.families import family_of
from gradaccum.families.run import Run
from gradaccum.graph import Counted, Meter
from gradaccum.passes import Kept, LedgerPass, Pass
from gradaccum.setting import Setting
from gradaccum.spans import Span, compose
from gradaccum.symbols import BATCH, Recorder
from gradaccum.tape import Tape


@dataclass(frozen=True)
class Trace:
    """What one micro-batch keeps, and ``phases``: first forward, first backward, later forward, later backward.

    Bytes of a phase are those of inputs, activations, temporaries and gradients; weights and optimizer state are not on the
    tape.
    """

    ledger: tuple[Kept, ...]
    phases: tuple[Span, ...]
    parameters: Counted

    @property
    def saved(self) -> int:
        """Bytes autograd keeps for one micro-batch."""
        return sum(kept.size for kept in self.ledger)


def trace(
    architecture: Architecture,
    setting: Setting,
    micro_batch: int,
    sequence_length: int,
    gradient_shards: int = 1,
) -> Trace:
    """A micro-batch, forward and backward; gradient buffers hold one of ``gradient_shards`` parts.

    The first one of a window leaves the buffers behind; the later ones do the same beside them.
    With ``symbols.BATCH`` for a micro-batch the spans hold the heights from which the peak of any batch follows.
    """
    tape = Tape(setting.autocast, gradient_shards, Recorder() if micro_batch == BATCH else Meter())
    run = Run(tape, architecture, setting, micro_batch, sequence_length)
    family = family_of(architecture)
    inputs = family.inputs(run)
    live = tape.meter.live
    written = Pass(run, family, inputs)
    loss = written.forward()
    forward, backward = written.spans + written.exits, written.backward(loss)
    first_forward = compose(live, 0, forward)
    first_backward = compose(first_forward.end, 0, backward)
    buffers = first_backward.gradients[2]
    later_forward = compose(first_backward.end, buffers, forward)
    later_backward = compose(later_forward.end, buffers, [span.beside_buffers for span in backward])
    phases = (first_forward, first_backward, later_forward, later_backward)
    return Trace(tuple(written.ledger), phases, written.parameters)


def saved_bytes(architecture: Architecture, setting: Setting, micro_batch: int, sequence_length: int) -> int:
    """Bytes autograd keeps for one micro-batch: ``trace`` without its backward passes."""
    written = _forward(LedgerPass, architecture, setting, micro_batch, sequence_length)
    return sum(kept.size for kept in written.ledger)


def parameters_of(architecture: Architecture, setting: Setting) -> Counted:
    """All parameters, each with the number of layers that have one like it. They do not depend on the batch."""
    written = _forward(Pass, architecture, setting, micro_batch=1, sequence_length=8)
    return written.parameters


def _forward(of: type[Pass], architecture: Architecture, setting: Setting, micro_batch: int, sequence_length: int) -> Pass:
    run = Run(Tape(setting.autocast), architecture, setting, micro_batch, sequence_length)
    family = family_of(architecture)
    written = of(run, family, family.inputs(run))
    written.forward()
    return written
