"""Mixtral and Qwen3-MoE: Llama's attention, and an MLP of experts of which each token takes a few.

Balanced routing is assumed nowhere: with grouped matrix products the bytes depend on the number of tokens, not on who takes
them.
"""

from __future__ import annotations

from gradaccum import operations as ops
from gradaccum import products
from gradaccum.families import parts
from gradaccum.families.llama import Llama
from gradaccum.families.qwen3 import Qwen3
from gradaccum.families.run import Run
from gradaccum.tape import Tensor


class Mixtral(Llama):
    """Mixtral."""

    weights_in_fp32 = True

    def mlp(self, run: Run, x: Tensor) -> Tensor:
        """Route, sort the chosen tokens by expert, run the experts, put the results back."""
        tape, arch = run.tape, run.arch
        h, f, e, k = arch.hidden, arch.mlp, arch.experts, arch.experts_per_token
        with tape.scope("mlp"):
            flat = ops.reshape(tape, x, parts.flat_shape(x))
            scores = self.route(run, flat)
            rows = flat.shape[0] * k
            with tape.scope("experts"):
                order = [tape.new((rows,), "int64") for _ in range(3)]
                offsets = tape.new((e,), "int32")
                picked = ops.gathered(tape, flat, (rows, h), {"indices": order[0]})
                weight = ops.gathered(tape, scores, (rows,), {"indices": order[1]})
                gate, up = ops.split(
                    tape,
                    products.grouped_mm(tape, picked, experts(run, "gate_up_proj", (e, h, 2 * f), matrices=2), offsets),
                    (f, f),
                )
                y = ops.mul(tape, parts.activate(run, gate), up)
                del gate, up, picked
                y = products.grouped_mm(tape, y, experts(run, "down_proj", (e, f, h)), offsets)
                y = ops.mul(tape, y, ops.reshape(tape, weight, (rows, 1)))
                y = ops.gathered(tape, y, (rows, h), {"indices": order[2]})
                y = ops.cast(tape, ops.summed(tape, ops.reshape(tape, y, (flat.shape[0], k, h))), x.dtype)
            return ops.reshape(tape, y, x.shape)

    def route(self, run: Run, flat: Tensor) -> Tensor:
        """Softmax over experts in fp32, the best k of it, divided by their sum."""
        tape, arch = run.tape, run.arch
        rows, k = flat.shape[0], arch.experts_per_token
        with tape.scope("gate"):
            logits = products.mm(tape, flat, router(run))
            scores = ops.keep_result(tape, "Softmax", ops.cast(tape, logits, "fp32"))
            chosen = tape.new((rows, k), "int64")
            best = ops.gathered(tape, scores, (rows, k), {"indices": chosen})
            total = ops.summed_last(tape, best)
            best = ops.divide(tape, best, total)
            if not self.weights_in_fp32:
                best = ops.cast(tape, best, logits.dtype)
        return best


class Qwen3Moe(Mixtral, Qwen3):
    """Qwen3-MoE."""

    weights_in_fp32 = False


def experts(run: Run, name: str, shape: tuple[int, int, int], matrices: int = 1) -> Tensor:
    """Stacked weights of all experts. An adapter is merged into them anew in every forward pass, so the merged copy is kept.

    ``matrices``: how many matrices are packed side by side; the adapter's rank is that many times the asked one.
    """
    tape, weight = run.tape, run.weight(name, *shape)
    if not run.adapts_experts:
        return weight
    count, rows, columns = shape
    rank, dtype = matrices * run.setting.rank, run.setting.adapter_dtype
    down = tape.parameter(f"{name}.lora_A", (count, rows, rank), dtype, trainable=True)
    up = tape.parameter(f"{name}.lora_B", (count, rank, columns), dtype, trainable=True)
    down, up = (ops.cast(tape, adapter, weight.dtype) for adapter in (down, up))
    return products.baddbmm(tape, weight, down, up)


def router(run: Run) -> Tensor:
    """Weights of the router, with an adapter merged into them where it has one."""
    tape, arch = run.tape, run.arch
    weight = run.weight("weight", arch.hidden, arch.experts)
    if not run.adapts_experts:
        return weight
    rank, dtype = run.setting.rank, run.setting.adapter_dtype
    down = tape.parameter("lora_A", (arch.hidden, rank), dtype, trainable=True)
    up = tape.parameter("lora_B", (rank, arch.experts), dtype, trainable=True)
    return ops.add(tape, weight, ops.cast(tape, products.mm(tape, down, up), weight.dtype))
