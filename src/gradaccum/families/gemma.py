"""Gemma 2 and 3: norms before and after each part, in fp32 to the end.

Gemma 2 caps logits softly, Gemma 3 has norms on heads and two rotary tables.
"""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum.families import parts
from gradaccum.families.llama import Llama
from gradaccum.families.qwen3 import Qwen3
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Gemma2(Llama):
    """Gemma 2."""

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, parts.Shared]:
        """Embedded tokens times the root of their width."""
        x = parts.embed(run, ids, "embed_tokens", run.arch.vocabulary, run.arch.hidden)
        # The factor is a buffer, so keeping it costs nothing.
        x = parts.differentiable(run, ops.scalar(run.tape, x))
        masks = parts.causal_masks(run, x.dtype, self.kinds(run.arch))
        return x, (parts.rotary_tables(run, x, run.arch.head_size), masks)

    def norm(self, run: Run, x: Tensor, name: str) -> Tensor:
        """Times 1 + weights, in fp32."""
        return parts.fp32_rms_norm(run, x, name, one_plus=True)

    def layer(self, run: Run, x: Tensor, context: parts.Shared, kind: str) -> Tensor:
        """One layer with its four norms."""
        residual = x
        x = self.norm(run, x, "input_layernorm")
        x = self.attention(run, x, context, kind)
        x = self.norm(run, x, "post_attention_layernorm")
        x = ops.add(run.tape, residual, x)
        residual = x
        x = self.norm(run, x, "pre_feedforward_layernorm")
        x = self.mlp(run, x)
        x = self.norm(run, x, "post_feedforward_layernorm")
        return ops.add(run.tape, residual, x)


class Gemma3(Gemma2, Qwen3):
    """Gemma 3, text."""

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, parts.Shared]:
        """Scaled tokens, and a rotary table each for sliding and full layers."""
        x, (tables, masks) = super().start(run, ids)
        return x, ({"full": tables, "sliding": parts.rotary_tables(run, x, run.arch.head_size)}, masks)

    def head_norm(self, run: Run, x: Tensor, name: str) -> Tensor:
        """Gemma's norm on each head."""
        return self.norm(run, x, name)
