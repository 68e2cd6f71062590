"""The claims: what each one measures, and the rules by which its verdict falls.

A verdict depends on nothing but the figures in a result file, so it can be passed again from the file at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench import derived

Figures = dict[str, Any]
# fp64 carries about sixteen digits and fp32 seven; a sum of a few terms in another order loses the last of them.
FP64, FP32 = 1e-12, 1e-6
# Eight significant bits of bf16, and three lost to the rounding of every addition to the buffer.
BF16 = 2.0**-5
# Far above rounding: two gradients that differ by this are different gradients.
DIFFERENT = 1e-3


@dataclass(frozen=True)
class Rule:
    """`figure` stands in `relation` to `bound`: a number, or the name of another figure.

    An `optional` figure may be missing, because what it needs is not on every machine; where it is there, it counts.
    """

    figure: str
    relation: str
    bound: float | str
    on_cuda: float | None = None
    optional: bool = False

    def limit(self, figures: Figures, kind: str) -> float:
        """The bound as a number, for this kind of device."""
        if kind == "cuda" and self.on_cuda is not None:
            return self.on_cuda
        return float(figures[self.bound]) if isinstance(self.bound, str) else self.bound

    def holds(self, figures: Figures, kind: str) -> bool:
        """Whether it does; what is not a number holds nothing."""
        value, limit = figures[self.figure], self.limit(figures, kind)
        if value is None:
            return False
        return bool({"<=": value <= limit, ">=": value >= limit, "==": value == limit}[self.relation])


@dataclass(frozen=True)
class Claim:
    """One claim. `ranks` is how many processes it needs; `shown` are figures without a rule of their own."""

    name: str
    rules: tuple[Rule, ...]
    ranks: int = 1
    derive: Callable[[Figures], Figures] = field(default=dict)
    shown: tuple[str, ...] = ()

    def figures(self, measured: Figures) -> Figures:
        """What was measured, and what follows from it; without enough points nothing follows."""
        return measured | self.derive(measured)

    def judge(self, measured: Figures, kind: str) -> str:
        """The verdict: `holds`, `fails`, or `inconclusive` where figures are missing."""
        figures = self.figures(measured)
        if any(rule.figure not in figures and not rule.optional for rule in self.rules):
            return "inconclusive"
        return "holds" if all(rule.holds(figures, kind) for rule in self.rules if rule.figure in figures) else "fails"


_CLAIMS = (
    Claim("gradient_fp64", (Rule("relative_error", "<=", FP64),)),
    Claim("gradient_fp32", (Rule("relative_error", "<=", FP32),)),
    Claim("gradient_bf16", (Rule("relative_error", "<=", BF16),), shown=("accumulated_rounding", "whole_rounding")),
    Claim(
        "optimizer_update",
        (Rule("adamw_error", "<=", 1e-9), Rule("sgd_error", "<=", FP64), Rule("sgd_undivided", ">=", 1.0)),
        shown=("adamw_undivided",),
    ),
    Claim("token_counts", (Rule("counted_error", "<=", FP64), Rule("mean_of_means_error", ">=", DIFFERENT))),
    Claim(
        "batch_norm",
        (
            Rule("batch_norm_error", ">=", DIFFERENT),
            Rule("running_variance_gap", ">=", DIFFERENT),
            Rule("frozen_error", "<=", FP64),
            Rule("layer_norm_error", "<=", FP64),
            Rule("group_norm_error", "<=", FP64),
        ),
    ),
    Claim(
        "dropout",
        (
            Rule("one_draw_gap", ">=", DIFFERENT),
            Rule("mean_gap_ratio", "<=", 0.25),
            Rule("without_dropout_error", "<=", FP64),
        ),
        shown=("draws",),
        derive=derived.dropout,
    ),
    Claim("clipping", (Rule("clipped_once_error", "<=", FP64), Rule("clipped_each_error", ">=", DIFFERENT))),
    Claim(
        "contrastive",
        (
            Rule("plain_error", ">=", DIFFERENT),
            Rule("single_sample_gradient", "==", 0.0),
            Rule("cached_error", "<=", FP64),
        ),
    ),
    Claim("bf16_buffer", (Rule("bf16_sum", "==", 256.0), Rule("fp32_sum", "==", "additions")), shown=("additions",)),
    Claim("flat_peak", (Rule("spread", "<=", 0.0, on_cuda=0.005),), derive=derived.flat_peak),
    Claim("one_buffer", (Rule("buffer_error", "<=", 0.0, on_cuda=0.01),), derive=derived.one_buffer, shown=("gradient_bytes",)),
    Claim("summed_losses", (Rule("growth", ">=", 0.95),), derive=derived.summed_losses),
    Claim(
        "affine_in_b",
        (
            Rule("saved_deviation", "<=", 0.0),
            Rule("ledger_gap", "<=", 0.0, on_cuda=0.001),
            # The dry run needs a C++ compiler to follow CUDA's paths.
            Rule("dry_run_gap", "<=", 0.0, on_cuda=0.001, optional=True),
            Rule("peak_deviation", "<=", 0.001, on_cuda=0.02),
        ),
        derive=derived.affine,
        shown=("slope", "constant"),
    ),
    Claim("predicted_peaks", (Rule("largest_gap", "<=", 0.005, on_cuda=0.05),), derive=derived.predicted),
    Claim("throughput", (Rule("slowdown", ">=", 1.0),), derive=derived.throughput),
    Claim(
        "effective_batch",
        (
            Rule("samples", "==", "expected_samples"),
            Rule("relative_error", "<=", FP64),
            Rule("largest_difference_between_ranks", "==", 0.0),
        ),
        ranks=2,
    ),
    Claim(
        "one_all_reduce",
        (Rule("with_no_sync", "==", 1.0), Rule("without_no_sync", "==", "accumulation_steps")),
        ranks=2,
        shown=("accumulation_steps",),
    ),
    Claim("misplaced_no_sync", (Rule("around_backward", "==", "accumulation_steps"),), ranks=2, shown=("accumulation_steps",)),
    Claim(
        "fsdp2_deferred",
        (
            Rule("deferred_bytes", "==", "parameter_bytes"),
            Rule("sharded_fraction", "<=", 0.75),
            Rule("relative_error", "<=", FP64),
        ),
        ranks=2,
        derive=derived.fsdp2,
        shown=("sharded_bytes", "parameter_bytes"),
    ),
    Claim(
        "token_counts_ranks",
        (
            Rule("counted_error", "<=", FP64),
            Rule("local_means_error", ">=", DIFFERENT),
            Rule("without_factor_error", ">=", "expected_without_factor"),
        ),
        ranks=2,
    ),
)

CLAIMS = {claim.name: claim for claim in _CLAIMS}
