"""The peak of a run at any micro-batch, from one trace for all of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache

from gradaccum import training
from gradaccum.activations import parameters_of, trace
from gradaccum.architecture import Architecture
from gradaccum.families.heads import chunk_rows
from gradaccum.graph import Counted
from gradaccum.setting import Setting
from gradaccum.symbols import BATCH, Line, highest

Lines = tuple[Line, ...]


@lru_cache(maxsize=128)
def moments(architecture: Architecture, setting: Setting, length: int, shards: int) -> tuple[Lines, ...]:
    """For each of ``training.PHASES`` the moments that can be its peak, for every micro-batch from 2 on."""
    found = trace(architecture, setting, BATCH, length, shards)
    return tuple(highest(span.heights) for span in found.phases)


@lru_cache(maxsize=128)
def parameters(architecture: Architecture, setting: Setting) -> Counted:
    """The parameters, remembered: runs that differ in switches of the pass alone share them."""
    return parameters_of(architecture, setting)


def parameters_for(plan: training.Plan) -> Counted:
    """The parameters of a run; what is kept of a pass does not change them."""
    return parameters(plan.architecture, replace(plan.setting, checkpointing="none", loss="standard", attention="sdpa"))


class Peaks:
    """Peaks of one run, whatever its micro-batch: those of ``training.budget``, to the byte."""

    def __init__(self, plan: training.Plan, parameters: Counted | None = None) -> None:
        self.plan = plan
        self.parameters = parameters or parameters_for(plan)
        self.fixed = training.fixed(plan, self.parameters)

    @property
    def least(self) -> int:
        """No micro-batch needs less: the optimizer step, or what is held through a pass. Takes no trace."""
        return max(self.fixed.step, self.fixed.throughout)

    @cached_property
    def _lines(self) -> tuple[Lines, ...]:
        plan = self.plan
        return moments(plan.architecture, plan.setting, plan.sequence_length, plan.gradient_shards)

    def at(self, micro_batch: int, accumulation_steps: int) -> int:
        """The peak, in bytes. One sample alone is laid out in its own way and has a trace of its own."""
        plan = replace(self.plan, accumulation_steps=accumulation_steps)
        if micro_batch == 1:
            spans = training.traced(plan.architecture, plan.setting, 1, plan.sequence_length, plan.gradient_shards).phases
            highest_pass = max(span.peak for _, span in plan.phases_of(spans))
        else:
            chunk = chunk_rows(micro_batch * plan.sequence_length, plan.architecture.vocabulary or 1, plan.architecture.hidden)
            lines = [line for _, phase in plan.phases_of(self._lines) for line in phase]
            highest_pass = max(line.at(micro_batch, chunk) for line in lines)
        return max(self.fixed.step, self.fixed.throughout + highest_pass)


def largest_micro_batch(plan: training.Plan, memory: int) -> int:
    """The largest b whose peak fits the memory; 0 when not even one sample does. Errors: none.

    A peak never falls as b grows from 2 on, so doubling and then halving the gap finds it.
    """
    peaks = Peaks(plan)

    def fits(b: int) -> bool:
        return peaks.at(b, plan.accumulation_steps) <= memory

    if not fits(1):
        return 0
    low = 1
    while low < 2**40 and fits(2 * low):
        low *= 2
    high = 2 * low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
