"""Attention functions registered with Transformers beside its own `sdpa` and `eager`."""

from typing import Any, TypeAlias

import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import repeat_kv

Heads: TypeAlias = torch.Tensor


def _low(*heads: Heads) -> tuple[Heads, ...]:
    """Under autocast, the flash operator itself has no rule: callers cast, as SDPA's wrapper does."""
    device = heads[0].device.type
    if not torch.is_autocast_enabled(device):
        return heads
    return tuple(head.to(torch.get_autocast_dtype(device)) for head in heads)


def _causal(module: torch.nn.Module, said: bool | None) -> bool:
    return bool(getattr(module, "is_causal", True) if said is None else said)


def flash(module: torch.nn.Module, q: Heads, k: Heads, v: Heads, _: None, **options: Any) -> tuple[Heads, None]:
    """FlashAttention with the keys' own number of heads, whatever SDPA would choose."""
    q, k, v = _low(q, k, v)
    causal = _causal(module, options.get("is_causal"))
    operator = torch.ops.aten._scaled_dot_product_flash_attention  # noqa: SLF001 - the kernel itself, not the choice
    out = operator(q, k, v, 0.0, causal, scale=options.get("scaling"))[0]
    return out.transpose(1, 2).contiguous(), None


def flash_repeated(module: torch.nn.Module, q: Heads, k: Heads, v: Heads, _: None, **options: Any) -> tuple[Heads, None]:
    """Keys and values repeated to all heads first, then what SDPA chooses (flash, or memory-efficient in fp32)."""
    groups = getattr(module, "num_key_value_groups", 1)
    k, v = repeat_kv(k, groups), repeat_kv(v, groups)
    out = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, is_causal=_causal(module, options.get("is_causal")), scale=options.get("scaling")
    )
    return out.transpose(1, 2).contiguous(), None


IMPLEMENTATIONS = {"sdpa": "sdpa", "eager": "eager", "flash": "oracle_fused", "flash-repeated": "oracle_repeated"}

AttentionInterface.register("oracle_fused", flash)
AttentionInterface.register("oracle_repeated", flash_repeated)
