"""Qwen3: Llama with a norm on every head of q and k."""

from __future__ import annotations

from gradaccum.families import parts
from gradaccum.families.llama import Llama
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Qwen3(Llama):
    """Qwen3."""

    def head_norm(self, run: Run, x: Tensor, name: str) -> Tensor:
        """Normalise each head."""
        return parts.rms_norm(run, x, name)

    def query_key(self, run: Run, x: Tensor) -> tuple[Tensor, Tensor]:
        """Projected, normalised by head, heads in front."""
        q, k = super().projected(run, x, "q_proj", run.arch.heads), None
        q = parts.heads_first(run, self.head_norm(run, q, "q_norm"))
        k = super().projected(run, x, "k_proj", run.arch.kv_heads)
        return q, parts.heads_first(run, self.head_norm(run, k, "k_norm"))
