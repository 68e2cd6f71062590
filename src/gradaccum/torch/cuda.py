"""PyTorch's own CUDA code paths in its CPU build: nothing runs on a device, only shapes, dtypes and storages are followed.

Call `load` before anything else imports torch.
"""

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("cuda_semantics.cpp")


class UnavailableError(RuntimeError):
    """Why CUDA's code paths cannot be walked here: `no_compiler`, `not_linux`, `not_cpu_build`, `compiler_failed`."""


def _torch_folder() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise RuntimeError("PyTorch is not installed in this environment.")
    return Path(spec.origin).parent


def _cache() -> Path:
    """A folder of the reader's own: what lies in one that all may write to could be anybody's library."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gradaccum"


def _library_file(torch: Path) -> Path:
    text = SOURCE.read_bytes() + f"{version('torch')} {sys.version} {torch}".encode()
    return _cache() / f"cuda_semantics-{hashlib.sha256(text).hexdigest()[:16]}.so"


def is_built() -> bool:
    """Whether the small library is there already; compiling it takes some seconds."""
    return _library_file(_torch_folder()).exists()


def check_available() -> None:
    """Refuse where the small library cannot work. Errors: `UnavailableError`."""
    torch = _torch_folder()
    if not sys.platform.startswith("linux"):
        raise UnavailableError("not_linux")
    # Read, not imported: the library has to come before torch.
    if not re.search(r"^cuda\b.*= None$", (torch / "version.py").read_text(), re.MULTILINE):
        raise UnavailableError("not_cpu_build")
    if not _library_file(torch).exists() and not _compiler():
        raise UnavailableError("no_compiler")


def _compiler() -> str | None:
    names = (os.environ.get("CXX"), "g++", "c++", "clang++")
    return next((found for name in names if name and (found := shutil.which(name))), None)


def build() -> Path:
    """Compile the small library with the machine's C++ compiler, once for each text of it and version of PyTorch."""
    check_available()
    torch = _torch_folder()
    library = _library_file(torch)
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    unfinished = library.with_suffix(f".{os.getpid()}.tmp")
    includes = [f"-I{torch / 'include'}", f"-I{torch / 'include' / 'torch' / 'csrc' / 'api' / 'include'}"]
    places = [*includes, f"-L{torch / 'lib'}", f"-Wl,-rpath,{torch / 'lib'}"]
    # Headers operator by operator: the compiler reads a third less.
    options = ["-std=c++20", "-O1", "-fPIC", "-shared", "-DAT_PER_OPERATOR_HEADERS", *places]
    command = [str(_compiler()), *options, str(SOURCE), "-ltorch_cpu", "-lc10", "-o", str(unfinished)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        unfinished.unlink(missing_ok=True)
        raise UnavailableError("compiler_failed") from RuntimeError(done.stderr)
    unfinished.rename(library)
    return library


@functools.cache
def library() -> ctypes.CDLL:
    """The small library, in this process."""
    loaded = ctypes.CDLL(str(build()))
    for name in ("live", "peak", "events"):
        getattr(loaded, f"gradaccum_{name}").restype = ctypes.c_int64
    loaded.gradaccum_history.restype = ctypes.POINTER(ctypes.c_int64)
    return loaded


def load() -> None:
    """Register the fake GPU with PyTorch, and answer the few questions that Python code asks of it."""
    library()
    import torch  # noqa: PLC0415 - the library comes first

    if torch.cuda.is_available():
        raise RuntimeError("Use the CPU build of PyTorch: a real GPU would answer for the imagined one.")
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.cuda.is_bf16_supported = lambda *_, **__: True
    torch.cuda.get_device_capability = lambda *_: (8, 0)
    torch.cuda.current_device = lambda: 0
    torch.cuda._lazy_init = lambda: None  # noqa: SLF001 - there is nothing to initialise
    torch.set_num_threads(1)
    widen_grouped_mm()
    prefer_compiled_shapes()


def widen_grouped_mm() -> None:
    """The shapes' rule for grouped_mm refuses all but bf16; the CUDA kernel takes fp32 as well (group by group)."""
    import torch  # noqa: PLC0415 - the library comes first
    from torch import _meta_registrations as rules  # noqa: PLC0415 - likewise

    strict = rules._meta_grouped_mm_common  # noqa: SLF001 - the rule to widen
    result = rules._create_grouped_mm_output_tensor  # noqa: SLF001 - what it answers with

    def grouped_mm(a: torch.Tensor, b: torch.Tensor, *rest: Any, offs: Any = None, **options: Any) -> torch.Tensor:
        if a.dtype is torch.float32 and b.dtype is torch.float32:
            return result(a, b, offs, options.get("out_dtype") or a.dtype)
        return strict(a, b, *rest, offs=offs, **options)

    rules._meta_grouped_mm_common = grouped_mm  # noqa: SLF001 - likewise


def prefer_compiled_shapes() -> None:
    """Ask C++ for an operator's shapes wherever it knows them; PyTorch puts slow rules in Python before most of its own.

    The rules in Python stay for operators that have no other.
    """
    import torch  # noqa: PLC0415 - the library comes first
    from torch import _meta_registrations as rules  # noqa: PLC0415 - likewise
    from torch._decomp import global_decomposition_table as tables  # noqa: PLC0415 - likewise

    ours = rules._meta_lib_dont_use_me_use_register_meta  # noqa: SLF001 - the registrations to thin out
    registered = set(ours._op_impls)  # noqa: SLF001 - likewise
    ours._destroy()  # noqa: SLF001 - likewise
    thinner = torch.library.Library("aten", "IMPL", "Meta")
    chosen: dict[Any, Callable[..., Any]] = {}
    for kind in ("meta", "post_autograd", "pre_autograd"):
        chosen = {**tables[kind], **chosen}
    known = torch._C._dispatch_has_kernel_for_dispatch_key  # noqa: SLF001 - who registered what
    for operator, rule in chosen.items():
        name = operator.name()
        path = f"{name.replace('::', '/')}/Meta"
        if path in registered and not any(known(name, key) for key in ("Meta", "CompositeImplicitAutograd")):
            thinner.impl(operator, rule)
    rules._meta_lib_dont_use_me_use_register_meta = thinner  # noqa: SLF001 - it must outlive this function


def answer_transformers() -> None:
    """Answer what Transformers reads off position ids, which have no values here: one sequence per row."""
    from transformers import masking_utils  # noqa: PLC0415 - where it is not installed, nobody asks

    masking_utils.find_packed_sequence_indices = lambda _: None


@contextlib.contextmanager
def autocast(device: str, enabled: bool) -> Iterator[None]:
    """bf16 autocast as a training loop uses it, or nothing."""
    import torch  # noqa: PLC0415 - the library comes first

    with torch.autocast(device, dtype=torch.bfloat16) if enabled else contextlib.nullcontext():
        yield
