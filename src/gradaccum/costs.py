"""The time of one update, by a stated model: which plan is faster than which, and by how much.

Symbols: n = E / g samples of one replica, b micro-batch, a = n / b accumulation steps, g replicas, s tokens of a sample,
P weights, t the part of them that is trained, W, G, S bytes of weights, gradients and optimizer state, F operations a second,
B bytes a second of the device's memory, N those of the network between replicas.
Nothing here was measured: it is arithmetic on published figures, made to rank plans and to say why one ranks before another.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from gradaccum import storage
from gradaccum.architecture import Architecture
from gradaccum.graph import BYTES, Counted
from gradaccum.training import Fixed, Plan

COMPUTE_RATE = 400 * 10**12
"""F: bf16 operations a second that an H100 reached in training, 41 % of its peak.

Source: https://arxiv.org/abs/2407.21783, table 4.
"""

MEMORY_BANDWIDTH = 3_350 * 10**9
"""B: HBM3 of an H100 SXM. Source: https://www.nvidia.com/en-us/data-center/h100/, 3.35 TB/s."""

NETWORK_BANDWIDTH = 450 * 10**9
"""N: NVLink of an H100 SXM, one way. Source: the same page, 900 GB/s both ways. Between machines it is far less."""

HALF_UTILISATION_BATCH = 1
"""Without a model: the micro-batch at which the device does half of its best. An assumption, not a measurement."""


@dataclass(frozen=True)
class Device:
    """What the model of time asks of the hardware."""

    compute: Fraction = Fraction(COMPUTE_RATE)
    memory: Fraction = Fraction(MEMORY_BANDWIDTH)
    network: Fraction = Fraction(NETWORK_BANDWIDTH)


@dataclass(frozen=True)
class Time:
    """One update, in parts of the time 1: all of the batch, all weights trained, the device always busy, nothing else."""

    compute: Fraction
    recomputation: Fraction = Fraction(0)
    idle: Fraction = Fraction(0)
    reduction: Fraction = Fraction(0)
    optimizer: Fraction = Fraction(0)

    @property
    def total(self) -> Fraction:
        """The whole update; nothing is taken to overlap."""
        return sum(self.parts, Fraction(0))

    @property
    def parts(self) -> tuple[Fraction, ...]:
        """Compute, recomputation, idle, reduction, optimizer."""
        return self.compute, self.recomputation, self.idle, self.reduction, self.optimizer


@dataclass(frozen=True)
class Costs:
    """Times of one combination of switches, a sum of what does not depend on b and what each micro-batch costs.

    T(b) = update + a * micro_batch, both as ``Time``. What a micro-batch costs whatever its size is makes larger ones faster:
    the utilisation b / (b + b_half) of the compute rises with b.
    """

    update: Time
    idle: Fraction
    reduction: Fraction = Fraction(0)

    def at(self, accumulation_steps: int) -> Time:
        """The time of an update of that many micro-batches."""
        u = self.update
        idle, reduction = accumulation_steps * self.idle, accumulation_steps * self.reduction + u.reduction
        return Time(u.compute, u.recomputation, idle, reduction, u.optimizer)


def without_model(per_replica: int, half_utilisation_batch: Fraction) -> Costs:
    """Time where only bytes are known: 1 + a * b_half / n, that is 1 / u(b) with u(b) = b / (b + b_half).

    Does not include: reduction and optimizer step, which are alike in all plans.

    >>> without_model(64, Fraction(1)).at(64).total, without_model(64, Fraction(1)).at(4).total
    (Fraction(2, 1), Fraction(17, 16))
    """
    return Costs(Time(Fraction(1)), half_utilisation_batch / per_replica)


def tokens_of(architecture: Architecture, sequence_length: int) -> int:
    """Tokens of a sample; those of an image are its patches and one for its class."""
    if architecture.model_type == "vit":
        return (architecture.image // architecture.patch) ** 2 + 1
    return sequence_length


def forward_operations(architecture: Architecture, parameters: Counted, tokens: int) -> int:
    """Operations of one sample's forward pass: s (2 P_active + 4 H d (L_full s + L_sliding min(window, s))).

    P_active: the weights a token meets, of the experts those that take it; the second term is attention's two products.
    Source: https://arxiv.org/abs/2204.02311, appendix B.
    Does not include: what causality spares, normalisation; the table of embeddings counts as if it were multiplied.
    """
    active = sum(_active(architecture, p.name, p.count) * times for p, times in parameters)
    sliding = sum(architecture.sliding_layers)
    reached = sliding * min(architecture.sliding_window, tokens) + (architecture.layers - sliding) * tokens
    return tokens * (2 * active + 4 * architecture.heads * architecture.head_size * reached)


def _active(architecture: Architecture, name: str, count: int) -> int:
    if ".experts." not in f".{name}.":
        return count
    return count * architecture.experts_per_token // architecture.experts


def of_run(run: Plan, held: Fixed, parameters: Counted, per_replica: int, device: Device) -> Costs:
    """Time of a run's updates, in parts of 3 n f / F, f being the operations of a forward pass.

    compute: (2 + t / P) / 3: forward, gradients of inputs, gradients of what is trained. recomputation: a third with
    checkpointing. idle, for each micro-batch: reading all weights in each pass, whatever b is, at B bytes a second; QLoRA
    also writes them out and reads those. reduction: ``_network``. optimizer: gradients read, weights and state read and
    written.
    Source: the roofline, https://doi.org/10.1145/1498765.1498785; one pass more under checkpointing,
    https://arxiv.org/abs/1604.06174.
    Does not include: anything overlapping, kernel launches, loading data, shape effects on kernels.
    """
    work = _work(run.architecture, parameters, tokens_of(run.architecture, run.sequence_length))
    a_byte, a_sent_byte = _shares(work.operations * per_replica, device)
    again = int(run.setting.checkpointing == "full")
    per_update, per_micro_batch = _network(run, work.gradients, work.weights)
    shards = run.replicas if run.stage else 1
    stepped = Fraction(3 * work.gradients, shards) + 2 * held.optimizer_states
    return Costs(
        Time(work.compute, Fraction(again, 3), reduction=per_update * a_sent_byte, optimizer=stepped * a_byte),
        idle=(2 + again) * work.moved * a_byte,
        reduction=per_micro_batch * a_sent_byte,
    )


@dataclass(frozen=True)
class _Work:
    """What a pass has to do, whatever the switches of the pass are."""

    operations: int
    compute: Fraction
    weights: int
    gradients: int
    moved: int


@lru_cache(maxsize=32)
def _work(architecture: Architecture, parameters: Counted, tokens: int) -> _Work:
    whole = sum(p.count * times for p, times in parameters)
    trained = Fraction(sum(p.count * times for p, times in parameters if p.trainable), whole)
    weights = storage.weight_bytes(parameters)
    written = 2 * BYTES["bf16"] * sum(p.count * times for p, times in parameters if p.quantized)
    operations = forward_operations(architecture, parameters, tokens)
    return _Work(operations, (2 + trained) / 3, weights, storage.gradient_bytes(parameters), weights + written)


@lru_cache(maxsize=32)
def _shares(operations: int, device: Device) -> tuple[Fraction, Fraction]:
    """The time of a byte of memory and of one sent, as parts of the time that three forward passes take."""
    unit = 3 * operations / device.compute
    return 1 / (device.memory * unit), 1 / (device.network * unit)


def _network(run: Plan, gradients: int, weights: int) -> tuple[Fraction, Fraction]:
    """Bytes one device sends for an update, and for each micro-batch.

    Without sharding and with ZeRO-1 gradients wait on every device and travel once: 2 (g - 1) / g * G. ZeRO-2 and 3 keep
    parts, so each micro-batch scatters its own, (g - 1) / g * G, unless the reduction is deferred; the trained weights then
    travel back once (stage 2), or all weights are gathered in both passes (stage 3).
    Source: https://arxiv.org/abs/1910.02054, section 7.
    """
    sent = Fraction(run.replicas - 1, run.replicas)
    scattered, gathered = sent * gradients, 2 * sent * weights if run.stage == 3 else Fraction(0)
    returned = Fraction(0) if run.stage == 3 else scattered
    if run.gradient_shards > 1:
        return returned, scattered + gathered
    return scattered + returned, gathered
