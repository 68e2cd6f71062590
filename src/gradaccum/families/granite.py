"""Granite: Llama with embeddings, what each part adds to the stream, and logits times a number from the config.

A factor of 1 is multiplied by all the same, so the numbers themselves change nothing here.
"""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum.families import heads, parts
from gradaccum.families.llama import Llama
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Granite(Llama):
    """Granite."""

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, parts.Shared]:
        """Embedded tokens times the embedding multiplier."""
        # Multiplied outside the embedding, so it is what comes before the product that checkpointing makes a leaf.
        x = parts.embed_tokens(run, ids, "embed_tokens")
        x = ops.scalar(run.tape, x)
        masks = parts.causal_masks(run, x.dtype, self.kinds(run.arch))
        return x, (parts.rotary_tables(run, x, run.arch.head_size), masks)

    def layer(self, run: Run, x: Tensor, context: parts.Shared, kind: str) -> Tensor:
        """One decoder layer."""
        residual = x
        x = self.norm(run, x, "input_layernorm")
        x = self.attention(run, x, context, kind)
        x = ops.add(run.tape, residual, ops.scalar(run.tape, x))
        residual = x
        x = self.norm(run, x, "post_attention_layernorm")
        x = self.mlp(run, x)
        return ops.add(run.tape, residual, ops.scalar(run.tape, x))

    def loss(self, run: Run, x: Tensor, labels: Tensor) -> Tensor:
        """Logits divided by their scaling, and shifted cross entropy."""
        return heads.language_model_loss(run, x, "lm_head", "embed_tokens", scaled=True)
