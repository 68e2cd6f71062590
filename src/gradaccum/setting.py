"""How a model is trained, as far as it decides what is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """Switches of one training run; names and values are the request contract's."""

    precision: str = "bf16"
    attention: str = "sdpa"
    padded: bool = False
    checkpointing: str = "none"
    loss: str = "standard"
    method: str = "full"
    rank: int = 16
    targets: str | tuple[str, ...] = "all-linear"
    adapter_dtype: str = "fp32"

    @property
    def weight_dtype(self) -> str:
        """Dtype the base weights are stored in."""
        return "bf16" if self.precision in ("bf16", "bf16-autocast") else "fp32"

    @property
    def autocast(self) -> str | None:
        """Dtype autocast lowers to, or None without autocast."""
        return {"bf16-mixed": "bf16", "bf16-autocast": "bf16", "fp16-mixed": "fp16"}.get(self.precision)
