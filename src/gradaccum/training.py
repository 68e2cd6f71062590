"""The whole budget of a training step: weights, gradients, optimizer state, activations, temporaries, phase by phase.

Symbols: W weights, G gradients, S optimizer state, A activation bytes of a sample, b micro-batch, a accumulation steps,
g replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from gradaccum import storage
from gradaccum.activations import Trace, saved_bytes, trace
from gradaccum.architecture import Architecture
from gradaccum.graph import BYTES, Counted
from gradaccum.setting import Setting
from gradaccum.spans import Span
from gradaccum.symbols import BATCH, Line

SHARDING = ("none", "zero1", "zero2", "zero3")
PHASES = ("first_forward", "first_backward", "later_forward", "later_backward")
T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """One training run, as far as memory asks."""

    architecture: Architecture
    setting: Setting
    micro_batch: int
    sequence_length: int
    accumulation_steps: int = 1
    replicas: int = 1
    optimizer: str = "adamw"
    foreach: bool = True
    sharding: str = "none"
    defer_reduction: bool = False
    zero_grad_to_none: bool = True

    @property
    def stage(self) -> int:
        """ZeRO stage; with one replica there is nothing to shard."""
        return SHARDING.index(self.sharding) if self.replicas > 1 else 0

    @property
    def gradient_shards(self) -> int:
        """Parts a gradient buffer is cut into: none while the reduction is deferred."""
        return self.replicas if self.stage >= 2 and not self.defer_reduction else 1

    def phases_of(self, four: Sequence[T]) -> list[tuple[str, T]]:
        """The phases this run goes through, by name, of what there is for each of ``PHASES``."""
        named = list(zip(PHASES, four, strict=True))
        if not self.zero_grad_to_none:
            # Buffers that are zeroed in place are there from the first micro-batch on.
            named[:2] = [(PHASES[0], four[2]), (PHASES[1], four[3])]
        return named if self.accumulation_steps > 1 else named[:2]


@dataclass(frozen=True)
class Phase:
    """The peak of a phase and what it is made of, in bytes."""

    name: str
    peak: int
    parts: dict[str, int]


@dataclass(frozen=True)
class Budget:
    """Bytes of one device in steady state, with the optimizer state present."""

    parameters: int
    trainable: int
    weights: int
    gradients: int
    optimizer_states: int
    activations: int
    phases: tuple[Phase, ...]
    trace: Trace

    @property
    def peak_phase(self) -> Phase:
        """The phase with the highest peak, the earliest of equals."""
        return max(self.phases, key=lambda phase: phase.peak)


@lru_cache(maxsize=64)
def traced(architecture: Architecture, setting: Setting, micro_batch: int, length: int, shards: int) -> Trace:
    """A trace, remembered: budgets that differ in other switches share it."""
    return trace(architecture, setting, micro_batch, length, shards)


def activation_per_sample(plan: Plan) -> int:
    """A: what one more sample adds to the bytes autograd keeps, from two samples on.

    saved(b) = c + b A, in bytes, written down once for any b. One row alone can be a special case (a batch of one is laid out
    as if it had no batch), and bytes that are kept whatever the batch is (rotary tables, casts of weights) are in c.
    """
    return _growth(plan.architecture, plan.setting, plan.sequence_length)


@lru_cache(maxsize=64)
def _growth(architecture: Architecture, setting: Setting, length: int) -> int:
    return Line.of(saved_bytes(architecture, setting, BATCH, length)).per_sample


@dataclass(frozen=True)
class Fixed:
    """Bytes that do not depend on the micro-batch. ``gathered`` is the layer that ZeRO-3 has whole while it runs."""

    weights: int
    gradients: int
    optimizer_states: int
    gathered: int
    temporaries: int

    @property
    def throughout(self) -> int:
        """What is held in every forward and backward pass beside what the tape counts."""
        return self.weights + self.optimizer_states + self.gathered

    @property
    def step(self) -> int:
        """The peak of the optimizer step."""
        return self.weights + self.optimizer_states + self.gradients + self.temporaries


def fixed(plan: Plan, parameters: Counted) -> Fixed:
    """Weights, gradients, state, and what an optimizer step needs beside them, of one device.

    Sharding divides state (ZeRO-1), gradients (2) and weights (3) by the replicas, rounded up.
    """
    whole = _whole(parameters, plan.optimizer, foreach=plan.foreach)
    return Fixed(
        weights=_shard(whole.weights, plan.replicas if plan.stage >= 3 else 1),
        gradients=_shard(whole.gradients, plan.gradient_shards),
        optimizer_states=_shard(whole.optimizer_states, plan.replicas if plan.stage >= 1 else 1),
        gathered=whole.gathered if plan.stage >= 3 else 0,
        temporaries=_shard(whole.temporaries, plan.replicas if plan.stage else 1),
    )


@lru_cache(maxsize=64)
def _whole(parameters: Counted, optimizer: str, *, foreach: bool) -> Fixed:
    """The same before anything is sharded."""
    return Fixed(
        weights=storage.weight_bytes(parameters),
        gradients=storage.gradient_bytes(parameters),
        optimizer_states=storage.optimizer_bytes(parameters, optimizer),
        gathered=_largest_unit(parameters),
        temporaries=storage.step_bytes(parameters, optimizer, foreach=foreach),
    )


def budget(plan: Plan) -> Budget:
    """Weights, gradients, state and the peak of every phase of one device.

    First phases run without a gradient buffer (``zero_grad`` sets gradients to None), later ones with it; the optimizer step
    adds its temporaries to W + G + S.
    Does not include: CUDA context, allocator's rounding and reserve, workspaces of kernels, communication buffers.
    """
    found = traced(plan.architecture, plan.setting, plan.micro_batch, plan.sequence_length, plan.gradient_shards)
    parameters = found.parameters
    held = fixed(plan, parameters)
    steady = {"weights": held.weights, "optimizer_states": held.optimizer_states}
    phases = [_phase(name, span, found.saved, steady, held.gathered) for name, span in plan.phases_of(found.phases)]
    step = steady | {"gradients": held.gradients, "activations": 0, "temporaries": held.temporaries}
    phases.append(Phase("optimizer_step", held.step, step))
    base = sum(p.count * times for p, times in parameters)
    trainable = sum(p.count * times for p, times in parameters if p.trainable)
    adapters = trainable if plan.setting.method != "full" else 0
    return Budget(
        base - adapters, trainable, held.weights, held.gradients, held.optimizer_states, found.saved, tuple(phases), found
    )


def _phase(name: str, span: Span, saved: int, steady: dict[str, int], gathered: int) -> Phase:
    gradients = span.gradients[1]
    activations = min(saved, span.peak - gradients)
    rest = span.peak - gradients - activations + gathered
    parts = steady | {"gradients": gradients, "activations": activations, "temporaries": rest}
    return Phase(name, sum(parts.values()), parts)


def _shard(size: int, parts: int) -> int:
    return -(-size // parts)


def _largest_unit(parameters: Counted) -> int:
    """Weights of the layer (or table) with the most, gathered whole while it runs."""
    units: dict[str, int] = {}
    for parameter, _ in parameters:
        unit = parameter.name.partition(":")[0] if ":" in parameter.name else parameter.name
        units[unit] = units.get(unit, 0) + parameter.count * BYTES[parameter.dtype]
    return max(units.values())
