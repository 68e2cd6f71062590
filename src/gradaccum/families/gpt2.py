"""GPT-2: learned positions, one packed projection for q, k and v, LayerNorm, the written-out GELU."""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum import views
from gradaccum.families import heads, parts
from gradaccum.families.attention import attend
from gradaccum.families.family import Decoder
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Gpt2(Decoder):
    """GPT-2."""

    def start(self, run: Run, ids: Tensor) -> tuple[Tensor, parts.Shared]:
        """Embedded tokens and positions."""
        arch, tape, held = run.arch, run.tape, run.held
        held["tokens"] = tokens = parts.embed_tokens(run, ids, "wte")
        held["position_ids"] = tape.new((1, run.length), "int64")
        held["positions"] = parts.embed(run, held["position_ids"], "wpe", arch.positions, arch.hidden)
        return ops.add(tape, tokens, held["positions"]), (None, parts.causal_mask(run, tokens.dtype))

    def attention(self, run: Run, x: Tensor) -> Tensor:
        """q, k and v are views of one projection, so its storage is kept once."""
        h = run.arch.hidden
        with run.tape.scope("attn"):
            q, k, v = views.split(run.tape, run.linear(x, "c_attn", 3 * h, bias=True), (h, h, h))
            q, k, v = (parts.heads_of(run, part, run.arch.heads) for part in (q, k, v))
            output = attend(run, q, k, v, softmax="cast", masked=run.setting.padded)
            return run.linear(output, "c_proj", h, bias=True)

    def layer(self, run: Run, x: Tensor, context: parts.Shared, kind: str) -> Tensor:
        """One block."""
        tape = run.tape
        residual = x
        x = parts.layer_norm(run, x, "ln_1")
        attended = self.attention(run, x)
        x = ops.add(tape, attended, residual)
        residual = x
        x = parts.layer_norm(run, x, "ln_2")
        mixed = self.mlp(run, x)
        return ops.add(tape, residual, mixed)

    def mlp(self, run: Run, x: Tensor) -> Tensor:
        """Two layers with the written-out GELU between them."""
        with run.tape.scope("mlp"):
            y = parts.activate(run, run.linear(x, "c_fc", run.arch.mlp, bias=True))
            return run.linear(y, "c_proj", run.arch.hidden, bias=True)

    def by_position(self, context: parts.Shared) -> tuple[Tensor, ...]:
        """The mask."""
        return (context[1],) if context[1] else ()

    def end(self, run: Run, x: Tensor) -> Tensor:
        """Final norm."""
        return parts.layer_norm(run, x, "ln_f")

    def loss(self, run: Run, x: Tensor, labels: Tensor) -> Tensor:
        """Logits of the tied head, and shifted cross entropy."""
        return heads.language_model_loss(run, x, "lm_head", "wte")
