"""One forward pass being written down: the tape, the model's sizes, the switches, and linear layers with their adapters."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradaccum import operations as ops
from gradaccum import products
from gradaccum.architecture import Architecture
from gradaccum.graph import Tensor
from gradaccum.setting import Setting
from gradaccum.tape import Tape

HEADS = {"lm_head", "score", "classifier", "decoder"}
"""Output heads: never adapted by ``all-linear``, never quantized."""


@dataclass
class Run:
    """One forward pass being written down: the tape, the model's sizes, the switches, the batch."""

    tape: Tape
    arch: Architecture
    setting: Setting
    batch: int
    length: int
    held: dict[str, Tensor] = field(default_factory=dict)
    """Tensors that a name of the original keeps alive although nothing here uses them."""
    mask_dtype: str | None = None
    """Of the mask that is added to eager scores: that of the embedded tokens."""

    @property
    def trains_base(self) -> bool:
        """Whether the base weights themselves learn."""
        return self.setting.method == "full"

    def weight(self, name: str, *shape: int) -> Tensor:
        """Base weights."""
        return self.tape.parameter(name, shape, self.setting.weight_dtype, trainable=self.trains_base)

    def matrix(self, name: str, rows: int, columns: int) -> Tensor:
        """Weights of a linear layer: QLoRA stores all but the head's in four bits and computes in bf16."""
        if self.setting.method != "qlora" or name in HEADS:
            return self.weight("weight", rows, columns)
        return self.tape.parameter("weight", (rows, columns), "bf16", trainable=False, quantized=True)

    def adapts(self, name: str) -> bool:
        """Whether a linear layer of that name gets an adapter."""
        if self.setting.method == "full":
            return False
        targets = self.setting.targets
        if targets == "all-linear":
            return name not in HEADS
        path = ".".join(self.tape.scopes)
        return any(f".{path}".endswith(f".{target}") for target in targets)

    @property
    def adapts_experts(self) -> bool:
        """Whether router and experts get adapters: with ``all-linear``, as in peft 0.21."""
        return self.setting.method != "full" and self.setting.targets == "all-linear"

    def adapter(self, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        """The two factors of a linear layer's low-rank adapter."""
        rank, dtype = self.setting.rank, self.setting.adapter_dtype
        down = self.tape.parameter("lora_A", (rows, rank), dtype, trainable=True)
        return down, self.tape.parameter("lora_B", (rank, columns), dtype, trainable=True)

    def register(self, name: str, rows: int, columns: int) -> None:
        """Name a linear layer's weights before they are used: the optimizer takes them in the order of registration."""
        with self.tape.scope(name):
            self.matrix(name, rows, columns)
            if self.adapts(name):
                self.adapter(rows, columns)

    def linear(self, x: Tensor, name: str, out: int, *, bias: bool = False) -> Tensor:
        """A linear layer, with its low-rank adapter where it is a target.

        peft casts the input to the adapter's dtype, one copy for each adapted layer.
        """
        tape = self.tape
        with tape.scope(name):
            weight = self.matrix(name, x.shape[-1], out)
            result = products.mm(tape, x, weight, self.weight("bias", out) if bias else None)
            if not self.adapts(name):
                return result
            dtype = result.dtype
            down, up = self.adapter(x.shape[-1], out)
            # The caller's reference to the input outlives the name it is cast under.
            lowered = ops.cast(tape, x, self.setting.adapter_dtype)
            result = ops.add(tape, result, ops.scalar(tape, products.mm(tape, products.mm(tape, lowered, down), up)))
            return ops.cast(tape, result, dtype)
