"""The way without a C++ compiler: PyTorch's meta device, or fake CPU tensors where autocast is wanted.

Pure precisions keep what CUDA keeps. Autocast is the CPU's: it has no rule of its own for softmax, norms and losses, which
CUDA's runs in fp32, so what they keep is smaller here.
"""

import gc
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .faults import Listener, ValueNeededError

Heads: TypeAlias = torch.Tensor
VALUES: dict[str, Any] = {
    "item": 0,
    "__bool__": False,
    "__int__": 0,
    "__float__": 0.0,
    "__index__": 0,
}
HALF = (torch.bfloat16, torch.float16)


class LiveBytes(TorchDispatchMode):
    """Bytes of the device's storages that came to life inside this mode, from birth to death."""

    def __init__(self, counts: Callable[[torch.Tensor], bool]) -> None:
        super().__init__()
        gc.collect()
        self._counts = counts
        self._alive: dict[int, weakref.finalize[..., Any]] = {}
        self._history: list[int] | None = None
        self.live = self.peak = 0

    def phase(self) -> int:
        """Start a new phase, whose peak begins at what lives now."""
        self.peak = self.live
        return self.live

    def record(self) -> None:
        """Write down from now on what lives after every birth and death."""
        self._history = []

    @property
    def events(self) -> int:
        """Births and deaths written down so far."""
        return len(self._history or ())

    def history(self, since: int = 0) -> list[int]:
        """What lived after each of them, from event ``since`` on."""
        return (self._history or [])[since:]

    def __torch_dispatch__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        for found in result if isinstance(result, (tuple, list)) else (result,):
            for tensor in found if isinstance(found, (tuple, list)) else (found,):
                if isinstance(tensor, torch.Tensor) and self._counts(tensor):
                    self._welcome(tensor.untyped_storage())
        return result

    def _welcome(self, storage: Any) -> None:
        key = storage._cdata  # noqa: SLF001 - the address of the storage itself; Python objects come and go
        if key not in self._alive:
            self._change(storage.nbytes())
            self._alive[key] = weakref.finalize(storage, self._bury, key, storage.nbytes())

    def _bury(self, key: int, size: int) -> None:
        del self._alive[key]
        self._change(-size)

    def _change(self, size: int) -> None:
        self.live += size
        self.peak = max(self.peak, self.live)
        if self._history is not None:
            self._history.append(self.live)


def choose_as_cuda(listener: Listener) -> None:
    """In this process, let SDPA pick its kernel as on CUDA, and let ``listener`` say who may read values that are not there.

    A function mode would not reach what PyTorch's own functions call in turn.
    """
    torch.nn.functional.scaled_dot_product_attention = attention
    torch.nn.functional.dropout = dropout
    for name, answer in VALUES.items():
        setattr(torch.Tensor, name, _asking(getattr(torch.Tensor, name), answer, listener))


def _asking(read: Callable[..., Any], answer: Any, listener: Listener) -> Callable[..., Any]:
    def value(tensor: torch.Tensor) -> Any:
        if not is_empty(tensor):
            return read(tensor)
        if not listener():
            raise ValueNeededError(listener.refused)
        return answer

    return value


def is_empty(tensor: torch.Tensor) -> bool:
    """Whether a tensor has a shape only."""
    return tensor.device.type == "meta" or type(tensor).__name__ == "FakeTensor"


def attention(  # noqa: PLR0913, PLR0917 - PyTorch's own signature
    q: Heads,
    k: Heads,
    v: Heads,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """SDPA with the kernel that PyTorch 2.13 picks on CUDA from compute capability 8.0 on.

    Flash: half precision, no mask, one head size up to 256. Memory-efficient: as many key heads as query heads, head sizes
    aligned to 16 bytes. Written out otherwise.
    """
    device = q.device.type
    if device != "meta" and torch.is_autocast_enabled(device):
        low = torch.get_autocast_dtype(device)
        q, k, v = q.to(low), k.to(low), v.to(low)
    scale = q.size(-1) ** -0.5 if scale is None else scale
    size, heads = q.size(-1), (k.size(-3), v.size(-3))
    grouped = heads != (q.size(-3), q.size(-3))
    squared = not is_causal or q.size(-2) == k.size(-2)
    one_size = size == k.size(-1) == v.size(-1)
    alignment = 4 if q.dtype is torch.float32 else 8
    aten = torch.ops.aten
    if q.dim() != 4 or (grouped and not enable_gqa):
        chosen = "math"
    elif attn_mask is None and q.dtype in HALF and one_size and size <= 256 and squared:
        chosen = "flash"
    elif not grouped and size == k.size(-1) and size % alignment == 0 and v.size(-1) % alignment == 0:
        chosen = "efficient"
    else:
        chosen = "math"
    if chosen == "flash":
        rest = -size % 8
        if rest:
            q, k, v = (torch.nn.functional.pad(heads, (0, rest)) for heads in (q, k, v))
        return aten._scaled_dot_product_flash_attention(q, k, v, dropout_p, is_causal, False, scale=scale)[0][..., :size]  # noqa: SLF001 - the kernel itself
    if attn_mask is not None and attn_mask.dtype is torch.bool:
        attn_mask = torch.zeros_like(attn_mask, dtype=q.dtype).masked_fill_(attn_mask.logical_not(), float("-inf"))
    if chosen == "efficient":
        bias = None if attn_mask is None else _aligned(attn_mask.to(q.dtype)).expand(*q.shape[:3], k.size(-2))
        wanted = torch.is_grad_enabled() and any(heads.requires_grad for heads in (q, k, v))
        return aten._scaled_dot_product_efficient_attention(q, k, v, bias, wanted, dropout_p, is_causal, scale=scale)[0]  # noqa: SLF001 - likewise
    return aten._scaled_dot_product_attention_math(  # noqa: SLF001 - likewise
        q, k, v, attn_mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa
    )[0]


def dropout(input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:  # noqa: A002
    """Dropout as CUDA has it: one operator, which keeps a mask of one byte an element."""
    if training and 0 < p < 1 and input.numel():
        return torch.ops.aten.native_dropout(input, p, True)[0]
    return torch.dropout_(input, p, training) if inplace else torch.dropout(input, p, training)


def _aligned(bias: torch.Tensor) -> torch.Tensor:
    """The kernel wants rows of a multiple of 16 elements; the rest is padded and cut off again."""
    rest = -bias.size(-1) % 16
    return torch.nn.functional.pad(bias, (0, rest))[..., : bias.size(-1)] if rest else bias
