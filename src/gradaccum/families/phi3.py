"""Phi-3: Llama with packed projections and rotary positions that are joined anew."""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum import views
from gradaccum.families import parts
from gradaccum.families.attention import attend
from gradaccum.families.llama import Llama
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Phi3(Llama):
    """Phi-3."""

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, parts.Shared]:
        """Embedded tokens, the mask and rotary tables as wide as the part that turns."""
        x = parts.embed_tokens(run, ids, "embed_tokens")
        masks = parts.causal_masks(run, x.dtype, self.kinds(run.arch))
        return x, (parts.rotary_tables(run, x, run.arch.rotary), masks)

    def layer(self, run: Run, x: Tensor, context: parts.Shared, kind: str) -> Tensor:
        """One layer. Its weights are registered with the output projection first, and all of them before the norms."""
        arch = run.arch
        size = arch.heads * arch.head_size
        with run.tape.scope("self_attn"):
            run.register("o_proj", size, arch.hidden)
            run.register("qkv_proj", arch.hidden, size + 2 * arch.kv_heads * arch.head_size)
        with run.tape.scope("mlp"):
            run.register("gate_up_proj", arch.hidden, 2 * arch.mlp)
            run.register("down_proj", arch.mlp, arch.hidden)
        return super().layer(run, x, context, kind)

    def attention(self, run: Run, x: Tensor, shared: parts.Shared, kind: str) -> Tensor:
        """V stays a view of the packed projection, so all of it is kept."""
        arch = run.arch
        q_size, kv_size = arch.heads * arch.head_size, arch.kv_heads * arch.head_size
        with run.tape.scope("self_attn"):
            packed = run.linear(x, "qkv_proj", q_size + 2 * kv_size)
            q, k, v = (views.part(run.tape, packed, 2, size) for size in (q_size, kv_size, kv_size))
            del packed
            q, k, v = (parts.heads_of(run, t, t.shape[2] // arch.head_size) for t in (q, k, v))
            q, k = parts.apply_partial_rotary(run, q, k, shared[0])
            output = attend(run, q, k, v, masked=parts.is_masked(run, kind))
            return run.linear(output, "o_proj", arch.hidden)

    def mlp(self, run: Run, x: Tensor) -> Tensor:
        """Gate and up are halves of one projection."""
        tape, f = run.tape, run.arch.mlp
        with tape.scope("mlp"):
            gate, up = views.split(tape, run.linear(x, "gate_up_proj", 2 * f), (f, f))
            return run.linear(ops.mul(tape, up, ops.keep_input(tape, "Silu", gate)), "down_proj", run.arch.hidden)
