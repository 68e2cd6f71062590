"""PyTorch's own CUDA code paths in its CPU build: nothing runs on a device, only shapes, dtypes and storages are followed.

Call `load` before anything else imports torch.
"""

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("cuda_semantics.cpp")


def build() -> Path:
    """Compile the small library with the machine's C++ compiler, once for each text of it and version of PyTorch."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise RuntimeError("PyTorch is not installed in this environment.")
    torch = Path(spec.origin).parent
    text = SOURCE.read_bytes() + f"{version('torch')} {sys.version} {torch}".encode()
    folder = Path(tempfile.gettempdir()) / "gradaccum-oracle"
    library = folder / f"cuda_semantics-{hashlib.sha256(text).hexdigest()[:16]}.so"
    if library.exists():
        return library
    folder.mkdir(exist_ok=True)
    unfinished = library.with_suffix(f".{id(text)}.tmp")
    includes = [f"-I{torch / 'include'}", f"-I{torch / 'include' / 'torch' / 'csrc' / 'api' / 'include'}"]
    places = [*includes, f"-L{torch / 'lib'}", f"-Wl,-rpath,{torch / 'lib'}"]
    options = ["-std=c++20", "-O1", "-fPIC", "-shared", *places]
    subprocess.run(["g++", *options, str(SOURCE), "-ltorch_cpu", "-lc10", "-o", str(unfinished)], check=True)
    unfinished.rename(library)
    return library


@functools.cache
def library() -> ctypes.CDLL:
    """The small library, in this process."""
    return ctypes.CDLL(str(build()))


def load() -> None:
    """Register the fake GPU with PyTorch, and answer the few questions that Python code asks of it."""
    library()
    import torch  # noqa: PLC0415 - the library comes first

    if torch.cuda.is_available():
        raise RuntimeError("Record on the CPU build of PyTorch: a real GPU would be used for some answers.")
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.cuda.is_bf16_supported = lambda *_, **__: True
    torch.cuda.get_device_capability = lambda *_: (8, 0)
    torch.cuda.current_device = lambda: 0
    torch.cuda._lazy_init = lambda: None  # noqa: SLF001 - there is nothing to initialise
    torch.set_num_threads(1)

    # The shapes' rule for grouped_mm refuses all but bf16; the CUDA kernel takes fp32 as well (group by group).
    from torch import _meta_registrations as rules  # noqa: PLC0415 - likewise

    strict = rules._meta_grouped_mm_common  # noqa: SLF001 - the rule to widen
    result = rules._create_grouped_mm_output_tensor  # noqa: SLF001 - what it answers with

    def grouped_mm(a: torch.Tensor, b: torch.Tensor, *rest: Any, offs: Any = None, **options: Any) -> torch.Tensor:
        if a.dtype is torch.float32 and b.dtype is torch.float32:
            return result(a, b, offs, options.get("out_dtype") or a.dtype)
        return strict(a, b, *rest, offs=offs, **options)

    rules._meta_grouped_mm_common = grouped_mm  # noqa: SLF001 - likewise

    from transformers import masking_utils  # noqa: PLC0415 - likewise

    # One sequence per row: reading that off the position ids needs values, so the answer is given.
    masking_utils.find_packed_sequence_indices = lambda _: None


@contextlib.contextmanager
def autocast(device: str, enabled: bool) -> Iterator[None]:
    """bf16 autocast as a training loop uses it, or nothing."""
    import torch  # noqa: PLC0415 - the library comes first

    with torch.autocast(device, dtype=torch.bfloat16) if enabled else contextlib.nullcontext():
        yield
