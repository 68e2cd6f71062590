"""Llama: pre-norm, rotary positions on grouped heads, gated MLP."""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum import views
from gradaccum.families import heads, parts
from gradaccum.families.attention import attend
from gradaccum.families.family import Decoder
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Llama(Decoder):
    """Also the base of the families that change a part of it."""

    rotary_dtype: str | None = None

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, parts.Shared]:
        """Embedded tokens, the mask and the rotary tables."""
        x = parts.embed_tokens(run, ids, "embed_tokens")
        masks = parts.causal_masks(run, x.dtype, self.kinds(run.arch))
        return x, (parts.rotary_tables(run, x, run.arch.head_size, self.rotary_dtype), masks)

    def norm(self, run: Run, x: Tensor, name: str) -> Tensor:
        """The family's normalisation."""
        return parts.rms_norm(run, x, name)

    def projected(self, run: Run, x: Tensor, name: str, heads: int) -> Tensor:
        """(b, s, heads, d)."""
        x = run.linear(x, name, heads * run.arch.head_size, bias=run.arch.qkv_bias)
        return views.reshape(run.tape, x, (*x.shape[:2], heads, run.arch.head_size))

    def query_key(self, run: Run, x: Tensor) -> tuple[Tensor, Tensor]:
        """Q and k with the heads in front, before positions are put in."""
        q = parts.heads_first(run, self.projected(run, x, "q_proj", run.arch.heads))
        return q, parts.heads_first(run, self.projected(run, x, "k_proj", run.arch.kv_heads))

    def attention(self, run: Run, x: Tensor, shared: parts.Shared, kind: str) -> Tensor:
        """Self-attention of one layer."""
        arch = run.arch
        with run.tape.scope("self_attn"):
            q, k = self.query_key(run, x)
            v = parts.heads_first(run, self.projected(run, x, "v_proj", arch.kv_heads))
            q, k = parts.apply_rotary(run, q, k, shared[0])
            output = attend(run, q, k, v, masked=parts.is_masked(run, kind), softcap=arch.softcap_attention)
            return run.linear(output, "o_proj", arch.hidden, bias=arch.output_bias)

    def mlp(self, run: Run, x: Tensor) -> Tensor:
        """Gated MLP."""
        return parts.gated_mlp(run, x)

    def layer(self, run: Run, x: Tensor, context: parts.Shared, kind: str) -> Tensor:
        """One decoder layer."""
        residual = x
        x = self.norm(run, x, "input_layernorm")
        x = self.attention(run, x, context, kind)
        x = ops.add(run.tape, residual, x)
        residual = x
        x = self.norm(run, x, "post_attention_layernorm")
        x = self.mlp(run, x)
        return ops.add(run.tape, residual, x)

    def end(self, run: Run, x: Tensor) -> Tensor:
        """Final norm."""
        return self.norm(run, x, "norm")

    def loss(self, run: Run, x: Tensor, labels: Tensor) -> Tensor:
        """Logits and shifted cross entropy."""
        return heads.language_model_loss(run, x, "lm_head", "embed_tokens")
