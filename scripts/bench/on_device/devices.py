"""The device under test: what differs between a CPU and a GPU is said here, and nowhere else."""

import gc
import os
import platform
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Meter(Protocol):
    """Bytes that came to life since the meter was opened."""

    live: int
    peak: int

    def restart(self) -> int:
        """Begin a new phase: the peak is what lives now, which is given back."""

    @property
    def reserved(self) -> int | None:
        """The most the allocator has taken from the device in this phase, where there is such an allocator."""


class TrackedBytes(TorchDispatchMode):
    """Storages followed from birth to death: what a CPU has in place of an allocator that counts.

    Temporaries inside a kernel are not seen. `limit` makes it a device of that size: what would overflow it is refused.
    """

    reserved = None

    def __init__(self, limit: int | None) -> None:
        super().__init__()
        self._limit = limit
        self._sizes: dict[int, int] = {}
        self.live = self.peak = 0

    def restart(self) -> int:
        """Begin a new phase."""
        gc.collect()
        self.peak = self.live
        return self.live

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (list, tuple)) else (result,):
            if isinstance(tensor, torch.Tensor):
                self._add(tensor.untyped_storage())
        return result

    def _add(self, storage: Any) -> None:
        key = storage._cdata  # noqa: SLF001 - the address of the storage itself; Python objects come and go
        if key in self._sizes:
            return
        size = storage.nbytes()
        if self._limit is not None and self.live + size > self._limit:
            raise torch.OutOfMemoryError(f"{self.live} bytes live, {size} more asked for, the limit is {self._limit}")
        self._sizes[key] = size
        self.live += size
        self.peak = max(self.peak, self.live)
        weakref.finalize(storage, self._drop, key)

    def _drop(self, key: int) -> None:
        self.live -= self._sizes.pop(key)


class Cpu:
    """Any CPU. Memory is tracked to the byte; time is good for ratios within one run."""

    kind = "cpu"
    backend = "gloo"
    attention = "eager"

    def __init__(self, limit: int | None = None) -> None:
        self.torch = torch.device("cpu")
        self.limit = limit
        # Small work gains nothing from more, and threads that wait for each other make times depend on who else computes.
        torch.set_num_threads(1)

    @contextmanager
    def meter(self) -> Iterator[Meter]:
        """Count what is made inside."""
        gc.collect()
        # What is there now stays: the collections at the start of each phase need not look at it again.
        gc.freeze()
        with TrackedBytes(self.limit) as tracked:
            yield tracked

    def synchronize(self) -> None:
        """Nothing runs behind the back of a CPU's caller."""

    def describe(self) -> dict[str, Any]:
        """The hardware in words that name no machine."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return {"kind": self.kind, "name": f"CPU {platform.machine()} {cores} cores", "threads": torch.get_num_threads()}


class AllocatedBytes:
    """What PyTorch's CUDA allocator counts, from a baseline on."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        torch.cuda.synchronize(device)
        self._before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)

    @property
    def live(self) -> int:
        """What is allocated now."""
        return torch.cuda.memory_allocated(self._device) - self._before

    @property
    def peak(self) -> int:
        """The most that was allocated at once in this phase."""
        return torch.cuda.max_memory_allocated(self._device) - self._before

    @property
    def reserved(self) -> int:
        """The most that the allocator has held in this phase, blocks kept for reuse among it."""
        return torch.cuda.max_memory_reserved(self._device)

    def restart(self) -> int:
        """Begin a new phase."""
        gc.collect()
        torch.cuda.synchronize(self._device)
        torch.cuda.reset_peak_memory_stats(self._device)
        return self.live


class Cuda:
    """An NVIDIA GPU, or an AMD one under ROCm's build of PyTorch, which goes by the same name."""

    kind = "cuda"
    backend = "nccl"
    attention = "sdpa"

    def __init__(self, limit: int | None = None) -> None:
        if not torch.cuda.is_available():
            raise SystemExit("This build of PyTorch sees no CUDA device. Use --device cpu, or install a CUDA build.")
        index = int(os.environ.get("LOCAL_RANK", "0"))
        if index >= torch.cuda.device_count():
            raise SystemExit(f"Local rank {index} has no GPU of its own: start {torch.cuda.device_count()} on this node.")
        self.torch = torch.device("cuda", index)
        torch.cuda.set_device(self.torch)
        if limit is not None:
            total = torch.cuda.get_device_properties(self.torch).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, limit / total), self.torch)
        self._warm_up()

    def _warm_up(self) -> None:
        """Workspaces of the matrix library come out of the allocator and stay: have them before any baseline is taken."""
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            square = torch.ones(64, 64, device=self.torch, dtype=dtype, requires_grad=True)
            (square @ square).sum().backward()

    @contextmanager
    def meter(self) -> Iterator[Meter]:
        """Count what is made inside."""
        gc.collect()
        torch.cuda.empty_cache()
        yield AllocatedBytes(self.torch)

    def synchronize(self) -> None:
        """Wait until the GPU has done what it was told."""
        torch.cuda.synchronize(self.torch)

    def describe(self) -> dict[str, Any]:
        """The GPU, its memory and what drives it."""
        properties = torch.cuda.get_device_properties(self.torch)
        return {
            "kind": self.kind,
            "name": properties.name,
            "memory": properties.total_memory,
            "capability": f"{properties.major}.{properties.minor}",
            "cuda": torch.version.cuda or torch.version.hip,
            "cudnn": torch.backends.cudnn.version(),
        }


DEVICES = {"cpu": Cpu, "cuda": Cuda}
