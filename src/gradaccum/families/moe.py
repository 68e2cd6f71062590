"""Mixtral and Qwen3-MoE: Llama's attention, and an MLP of experts of which each token takes a few.

Balanced routing is assumed nowhere: with grouped matrix products the bytes depend on the number of tokens, not on who takes
them.
"""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum import products, views
from gradaccum.families import parts
from gradaccum.families.llama import Llama
from gradaccum.families.qwen3 import Qwen3
from gradaccum.families.run import Run
from gradaccum.graph import Tensor


class Mixtral(Llama):
    """Mixtral."""

    weights_in_fp32 = True

    def mlp(self, run: Run, x: Tensor) -> Tensor:
        """Route every token to the experts it takes, run them, put the results back."""
        tape = run.tape
        with tape.scope("mlp"):
            flat = views.reshape(tape, x, parts.flat_shape(x))
            # The block has names for the router's logits and choice to its end.
            _logits, scores, _chosen = self.route(run, flat)
            with tape.scope("experts"):
                y = run_experts(run, flat, scores)
            return views.reshape(tape, y, x.shape)

    def route(self, run: Run, flat: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits, the best k probabilities of each token, and which experts they belong to.

        Most models divide the probabilities by their sum.
        """
        tape, arch = run.tape, run.arch
        rows, k = flat.shape[0], arch.experts_per_token
        with tape.scope("gate"):
            weight, _delta = router(run)
            logits = products.mm(tape, flat, weight)
            scores = ops.keep_result(tape, "Softmax", ops.cast(tape, logits, "fp32"))
            chosen = tape.new((rows, k), "int64")
            best = ops.gathered(tape, scores, (rows, k), {"indices": chosen}, "Topk")
            if arch.normalised_choice:
                best = ops.divide(tape, best, ops.summed_last(tape, best))
            if not self.weights_in_fp32:
                best = ops.cast(tape, best, logits.dtype)
        return logits, best, chosen


class Qwen3Moe(Mixtral, Qwen3):
    """Qwen3-MoE."""

    weights_in_fp32 = False

    def mlp(self, run: Run, x: Tensor) -> Tensor:
        """The experts' weights are registered before the router's."""
        h, f, e = run.arch.hidden, run.arch.mlp, run.arch.experts
        with run.tape.scope("mlp"), run.tape.scope("experts"):
            run.weight("gate_up_proj", e, h, 2 * f)
            run.weight("down_proj", e, f, h)
        return super().mlp(run, x)


def run_experts(run: Run, flat: Tensor, scores: Tensor) -> Tensor:
    """Sort the chosen tokens by expert, run all experts at once, weigh the results and put them back in order."""
    tape, arch = run.tape, run.arch
    h, f, e, k = arch.hidden, arch.mlp, arch.experts, arch.experts_per_token
    rows = flat.shape[0] * k
    # peft makes the adapters' factors before the experts run, and lets go of them and of the merged weights after it.
    down_factors = factors(run, "down_proj", (e, f, h))
    up_factors = factors(run, "gate_up_proj", (e, h, 2 * f), matrices=2)
    _sorted, order, tokens = (tape.new((rows,), "int64") for _ in range(3))
    picked = ops.gathered(tape, flat, (rows, h), {"indices": tokens})
    del tokens
    weight = ops.gathered(tape, scores, (rows,), {"indices": order})
    _short = tape.new((rows,), "int32")
    _counts, offsets = tape.new((e,), "int32"), tape.new((e,), "int32")
    gate_up = merged(run, "gate_up_proj", (e, h, 2 * f), up_factors)
    y = products.grouped_mm(tape, picked, gate_up, offsets)
    y = gated(run, y)
    down = merged(run, "down_proj", (e, f, h), down_factors)
    y = products.grouped_mm(tape, y, down, offsets)
    weighted = ops.mul(tape, y, views.reshape(tape, weight, (rows, 1)))
    back = tape.new((rows,), "int64")
    weighted = ops.gathered(tape, weighted, (rows, h), {"indices": back})
    total = ops.summed(tape, views.reshape(tape, weighted, (flat.shape[0], k, h)))
    return ops.cast(tape, total, flat.dtype)


def gated(run: Run, packed: Tensor) -> Tensor:
    """act(gate) * up, the two being halves of one projection."""
    f = run.arch.mlp
    gate, up = views.split(run.tape, packed, (f, f))
    return ops.mul(run.tape, parts.activate(run, gate), up)


Factors = tuple[Tensor, Tensor] | None
Stack = tuple[int, int, int]


def factors(run: Run, name: str, shape: Stack, matrices: int = 1) -> Factors:
    """The adapter of the experts' stacked weights in the weights' dtype; nothing where they have none.

    ``matrices``: how many matrices are packed side by side; the adapter's rank is that many times the asked one.
    """
    if not run.adapts_experts:
        return None
    tape, (count, rows, columns) = run.tape, shape
    rank, dtype, weight_dtype = matrices * run.setting.rank, run.setting.adapter_dtype, run.setting.weight_dtype
    down = tape.parameter(f"{name}.lora_A", (count, rows, rank), dtype, trainable=True)
    up = tape.parameter(f"{name}.lora_B", (count, rank, columns), dtype, trainable=True)
    pair = ops.cast(tape, down, weight_dtype), ops.cast(tape, up, weight_dtype)
    # Registering the adapter merges it once to see whether that works.
    tape.new(shape, weight_dtype)
    return pair


def merged(run: Run, name: str, shape: Stack, pair: Factors) -> Tensor:
    """Weights with the adapter merged in, anew in every forward pass, so the merged copy is kept."""
    weight = run.weight(name, *shape)
    return weight if pair is None else products.baddbmm(run.tape, weight, *pair)


def router(run: Run) -> tuple[Tensor, Tensor | None]:
    """Weights of the router, with an adapter merged into them where it has one; and what was added."""
    tape, arch = run.tape, run.arch
    weight = run.weight("weight", arch.hidden, arch.experts)
    if not run.adapts_experts:
        return weight, None
    rank, dtype = run.setting.rank, run.setting.adapter_dtype
    down = tape.parameter("lora_A", (arch.hidden, rank), dtype, trainable=True)
    up = tape.parameter("lora_B", (rank, arch.experts), dtype, trainable=True)
    delta = ops.cast(tape, ops.scalar(tape, products.mm(tape, down, up)), weight.dtype)
    return ops.add(tape, weight, delta), delta
