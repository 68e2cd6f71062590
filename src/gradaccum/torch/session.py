"""On what the dry run runs: the imagined GPU of `cuda`, or what `meta` offers where that cannot be built."""

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import cuda
from .faults import Listener


@dataclass
class Session:
    """A device that has shapes only, and what follows the bytes on it.

    ``kind`` is ``cuda`` or ``meta``, ``reason`` why it is not ``cuda``; ``device`` is PyTorch's name of the device.
    """

    kind: str
    reason: str | None
    device: str
    autocast_dtype: str | None
    listener: Listener
    live: Any
    _modes: contextlib.ExitStack
    _keep: list[Any] = field(default_factory=list)

    @contextlib.contextmanager
    def making(self) -> Iterator[None]:
        """Inside, new tensors are made on the device."""
        import torch

        with self.fake(), torch.device(self.device):
            yield

    @contextlib.contextmanager
    def fake(self) -> Iterator[None]:
        """Inside, tensors on the CPU have no content either, where the device is the CPU's shadow."""
        with contextlib.ExitStack() as stack:
            for mode in self._keep:
                stack.enter_context(mode)
            yield

    @contextlib.contextmanager
    def autocast(self) -> Iterator[None]:
        """Autocast as a training loop uses it, or nothing."""
        import torch

        if self.autocast_dtype is None:
            yield
        else:
            with torch.autocast(self.device, dtype=getattr(torch, self.autocast_dtype)):
                yield

    def owns(self, tensor: Any) -> bool:
        """Whether a tensor lies on the imagined device."""
        from .meta import is_empty

        return bool(tensor.is_cuda) if self.kind == "cuda" else is_empty(tensor)

    def close(self) -> None:
        """Leave the modes that `open_session` entered."""
        self._modes.close()


def open_session(wanted: str, autocast_dtype: str | None) -> Session:
    """A session on CUDA's code paths where they can be walked, otherwise on shapes alone.

    ``wanted``: ``auto``, ``cuda`` or ``meta``. Errors: `cuda.UnavailableError` where only ``cuda`` will do and it cannot.
    """
    reason = "asked_for"
    if wanted != "meta":
        try:
            cuda.build()
        except cuda.UnavailableError as error:
            if wanted == "cuda":
                raise
            reason = str(error)
        else:
            return _on_cuda(autocast_dtype)
    return _on_meta(reason, autocast_dtype)


def _on_cuda(autocast_dtype: str | None) -> Session:
    cuda.load()
    from .live import LiveBytes

    listener = Listener()
    asked = ctypes.CFUNCTYPE(ctypes.c_bool)(listener)
    cuda.library().gradaccum_ask(asked)
    return Session("cuda", None, "cuda", autocast_dtype, listener, LiveBytes(), contextlib.ExitStack(), [_Kept(asked)])


class _Kept(contextlib.nullcontext[None]):
    """Keeps an object that C++ points to."""

    def __init__(self, kept: object) -> None:
        super().__init__()
        self.kept = kept


def _on_meta(reason: str, autocast_dtype: str | None) -> Session:
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    from .meta import LiveBytes, choose_as_cuda

    cuda.widen_grouped_mm()
    cuda.prefer_compiled_shapes()
    listener = Listener()
    choose_as_cuda(listener)
    modes = contextlib.ExitStack()
    if autocast_dtype is None:
        live = modes.enter_context(LiveBytes(lambda tensor: tensor.device.type == "meta"))
        return Session("meta", reason, "meta", None, listener, live, modes)
    live = LiveBytes(lambda tensor: isinstance(tensor, FakeTensor))
    modes.enter_context(live)
    return Session("meta", reason, "cpu", autocast_dtype, listener, live, modes, [FakeTensorMode(allow_non_fake_inputs=True)])
