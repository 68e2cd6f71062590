"""The size of a kept tensor as a product of the field's symbols.

b micro-batch, s sequence length, h hidden size, f MLP size, V vocabulary, H heads, K key-value heads, d head size, r rank of
adapters, e experts, k experts per token, n labels. Two symbols of the same value are told apart by where they stand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradaccum.architecture import Architecture
from gradaccum.graph import BYTES, Entry

# What these keep are weights, in another dtype or shape: the batch has no part in them.
WEIGHTS = {
    ("Mm", "mat2"),
    ("Addmm", "mat2"),
    ("GroupedMm", "mat2"),
    ("Baddbmm", "batch1"),
    ("Baddbmm", "batch2"),
    ("Convolution", "weight"),
    ("FusedLinearCrossEntropy", "grad_weight"),
}
# Positions are the same for every sample, so a table is looked up once.
POSITIONS = ("wpe", "position_embeddings")
PADDINGS = (8, 32)
"""Kernels round some lengths up to a multiple of these."""

Named = dict[str, int]


class Symbols:
    """The symbols of one model, micro-batch and length."""

    def __init__(self, architecture: Architecture, rank: int, micro_batch: int, sequence_length: int) -> None:
        arch = architecture
        h, f, heads, kv_heads, d = arch.hidden, arch.mlp, arch.heads, arch.kv_heads, arch.head_size
        self.b = micro_batch
        # A vision model's tokens are its patches and one more.
        self.s = (arch.image // arch.patch) ** 2 + 1 if arch.image else sequence_length
        self.features: Named = {"h": h, "f": f, "V": arch.vocabulary, "H·d": heads * d, "K·d": kv_heads * d}
        self.features |= {"(H + 2·K)·d": (heads + 2 * kv_heads) * d, "3·h": 3 * h, "2·f": 2 * f, "d": d, "r": rank}
        self.features |= {"e": arch.experts, "k": arch.experts_per_token, "e·r": arch.experts * rank, "n": arch.labels}
        self.heads: Named = {"H": heads, "K": kv_heads}
        self.length: Named = {"s": self.s}
        self.size: Named = {"d": d}
        self.rows: Named = {"b·s·k": micro_batch * self.s * arch.experts_per_token, "b·s": micro_batch * self.s, "b": self.b}
        self.merged: Named = {"b": self.b, "b·H": self.b * heads, "b·K": self.b * kv_heads}

    def product(self, entry: Entry, times: int) -> str:
        """Bytes of ``times`` such tensors as a product: layers, bytes of an element, then the shape.

        >>> llama = Architecture("llama", hidden=4096, mlp=14336, layers=32, heads=32, kv_heads=8, head_size=128)
        >>> entry = Entry("mlp", "Silu", "self", (2, 512, 14336), "bf16", 2 * 512 * 14336 * 2)
        >>> Symbols(llama, 16, 2, 512).product(entry, 32)
        '32·2·b·s·f'
        """
        item = BYTES[entry.dtype]
        names = self._storage(entry, math.prod(entry.shape) * item)
        numbers = [str(n) for n in (times, entry.size if names is None else item) if n != 1]
        return "·".join(numbers + (names or [])) or "1"

    def _storage(self, entry: Entry, dense: int) -> list[str] | None:
        """The shape, corrected where the storage behind it is larger or smaller; None where no symbols say how."""
        names = self.shape(entry)
        if entry.size == dense:
            return names
        if entry.size == dense * self.s:
            return [*names, "s"]
        if entry.size and entry.size % dense == 0:
            return [str(entry.size // dense), *names]
        # An expanded tensor repeats its storage, over the samples or over the heads that share a key.
        if entry.size * self.b == dense and "b" in names:
            return [name for name in names if name != "b"]
        if entry.size * self.heads["H"] == dense * self.heads["K"]:
            return [name.replace("H", "K") for name in names]
        padded = entry.size == self.b * (self.s + 1) * BYTES[entry.dtype]
        return ["b", "(s + 1)"] if padded else None

    def shape(self, entry: Entry) -> list[str]:
        """The dimensions as symbols; one that has none stands as its number, and 1 is left out."""
        shape = entry.shape
        names = [self._name(size, candidates) for size, candidates in zip(shape, self._places(entry), strict=True)]
        return [name for name in names if name != "1"]

    def _places(self, entry: Entry) -> Sequence[Sequence[Named]]:
        """What each dimension may be, the likeliest first."""
        if (entry.operation, entry.slot) in WEIGHTS:
            return [(self.features,)] * len(entry.shape)
        by_rank = (self._vector, self._vector, self._matrix, self._three, self._four)
        return by_rank[len(entry.shape)](entry)

    def _matrix(self, entry: Entry) -> Sequence[Sequence[Named]]:
        if entry.module.endswith(POSITIONS):
            return [(), (self.length,)]
        table = entry.dtype == "int64" and entry.shape[0] == self.b
        return [(self.rows, self.features), (self.length, self.features) if table else (self.features, self.length)]

    def _three(self, entry: Entry) -> Sequence[Sequence[Named]]:
        if entry.slot in {"logsumexp", "log_sumexp"}:
            return [(self.merged,), (self.heads,), (self.length,)]
        if entry.operation == "Bmm":
            last = (self.size, self.length) if entry.shape[1] == self.s else (self.length,)
            return [(self.merged,), (self.length, self.size), last]
        return [(self.merged,), (self.length,), (self.features, self.length)]

    def _four(self, entry: Entry) -> Sequence[Sequence[Named]]:
        if entry.operation == "Convolution":
            return [(self.merged,), (), (), ()]
        scores = entry.operation in ("Softmax", "Tanh", "Checkpoint") or entry.slot == "attn_bias"
        last = (self.length,) if scores else (self.size, self.features, self.length)
        shared = entry.shape[:2] == (1, 1) and entry.operation == "Mul"
        return [() if shared else (self.merged,), (self.heads, self.length), (self.length, self.heads), last]

    def _vector(self, entry: Entry) -> Sequence[Sequence[Named]]:
        counted = entry.operation in ("Index", "NllLoss")
        drawn = entry.operation.startswith("ScaledDotProduct")
        return [(self.rows,) if counted else () if drawn else (self.features,)] * len(entry.shape)

    def _name(self, size: int, candidates: Sequence[Named]) -> str:
        batch = any(named is self.merged or named is self.rows for named in candidates)
        if size == 1 and not batch:
            return "1"
        for named in candidates:
            for name, value in named.items():
                if value == size:
                    return name
        for step in PADDINGS if any(named is self.length for named in candidates) else ():
            if size == -(-self.s // step) * step:
                return f"{step}·⌈s/{step}⌉"
        return str(size)
