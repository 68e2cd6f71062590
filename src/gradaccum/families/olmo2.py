"""OLMo 2: norms after attention and MLP instead of before, and on whole q and k; rotary positions in fp32."""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum.families import parts
from gradaccum.families.llama import Llama
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Olmo2(Llama):
    """OLMo 2."""

    rotary_dtype = "fp32"

    def norm(self, run: Run, x: Tensor, name: str) -> Tensor:
        """Times the weights in fp32."""
        return parts.fp32_rms_norm(run, x, name, one_plus=False)

    def query_key(self, run: Run, x: Tensor) -> tuple[Tensor, Tensor]:
        """Projected and normalised as a whole."""
        arch = run.arch
        q = self.norm(run, run.linear(x, "q_proj", arch.heads * arch.head_size, bias=arch.qkv_bias), "q_norm")
        k = self.norm(run, run.linear(x, "k_proj", arch.kv_heads * arch.head_size, bias=arch.qkv_bias), "k_norm")
        return parts.heads_of(run, q, arch.heads), parts.heads_of(run, k, arch.kv_heads)

    def layer(self, run: Run, x: Tensor, context: parts.Shared, kind: str) -> Tensor:
        """One layer."""
        residual = x
        x = self.attention(run, x, context, kind)
        x = self.norm(run, x, "post_attention_layernorm")
        x = ops.add(run.tape, residual, x)
        residual = x
        x = self.mlp(run, x)
        x = self.norm(run, x, "post_feedforward_layernorm")
        return ops.add(run.tape, residual, x)
