"""GPT-NeoX and Pythia: parallel residual, packed projection per head, partial rotary positions."""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum import views
from gradaccum.families import heads, parts
from gradaccum.families.attention import attend
from gradaccum.families.family import Decoder
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class GptNeox(Decoder):
    """GPT-NeoX."""

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, parts.Shared]:
        """Embedded tokens, the mask and the rotary tables."""
        x = parts.embed_tokens(run, ids, "embed_in")
        mask = parts.causal_mask(run, x.dtype)
        return x, (parts.rotary_tables(run, x, run.arch.rotary), mask)

    def attention(self, run: Run, x: Tensor, shared: parts.Shared) -> Tensor:
        """V stays a view of the packed projection, so all of it is kept beside the rotated q and k."""
        tape, arch = run.tape, run.arch
        with tape.scope("attention"):
            packed = run.linear(x, "query_key_value", 3 * arch.heads * arch.head_size, bias=arch.qkv_bias)
            packed = parts.heads_of(run, packed, arch.heads)
            q, k, v = views.split(tape, packed, (arch.head_size,) * 3)
            del packed
            q, k = parts.apply_partial_rotary(run, q, k, shared[0])
            output = attend(run, q, k, v, masked=run.setting.padded)
            return run.linear(output, "dense", arch.hidden, bias=arch.qkv_bias)

    def layer(self, run: Run, x: Tensor, context: parts.Shared, kind: str) -> Tensor:
        """Attention and MLP side by side on the same input."""
        tape, arch = run.tape, run.arch
        # A module's input lives as long as its call.
        normed = parts.layer_norm(run, x, "input_layernorm")
        attended = self.attention(run, normed, context)
        if not arch.parallel_residual:
            attended = x = ops.add(tape, attended, x)
        normed = parts.layer_norm(run, x, "post_attention_layernorm")
        with tape.scope("mlp"):
            y = run.linear(normed, "dense_h_to_4h", arch.mlp, bias=True)
            y = parts.activate(run, y)
            y = run.linear(y, "dense_4h_to_h", arch.hidden, bias=True)
        del normed
        if not arch.parallel_residual:
            return ops.add(tape, y, attended)
        return ops.add(tape, ops.add(tape, y, attended), x)

    def end(self, run: Run, x: Tensor) -> Tensor:
        """Final norm."""
        return parts.layer_norm(run, x, "final_layer_norm")

    def loss(self, run: Run, x: Tensor, labels: Tensor) -> Tensor:
        """Logits and shifted cross entropy."""
        return heads.language_model_loss(run, x, "lm_head", "embed_in")
