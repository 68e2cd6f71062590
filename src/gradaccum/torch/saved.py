"""What autograd keeps in one forward pass: distinct storages, and the ledger that names their owners."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.modules import module as module_hooks

LAYER = re.compile(r"^.*?\b(?:layers|layer|h)\.\d+\.?")
PEFT_PREFIX = "base_model.model."
OUTSIDE = "step"


@dataclass
class Kept:
    """One storage that autograd keeps. Holding it keeps its address from being used again."""

    storage: Any
    module: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    checkpointed: bool
    slots: set[str] = field(default_factory=set)


class Saved:
    """Collects the storages kept in a forward pass of `model`; parameters and buffers are left out.

    `counts` tells which tensors are looked at: those of one device, say.
    """

    def __init__(self, model: torch.nn.Module, counts: Callable[[torch.Tensor], bool] = lambda _: True) -> None:
        self._names = {module: name for name, module in model.named_modules()}
        self._counts = counts
        self._stack: list[torch.nn.Module] = []
        self._outside = {_identity(t.untyped_storage()) for t in (*model.parameters(), *model.buffers())}
        self.kept: dict[int, Kept] = {}

    @property
    def bytes(self) -> int:
        """Of all storages kept, each counted once."""
        return sum(kept.storage.nbytes() for kept in self.kept.values())

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, what autograd packs is noted. The graph made here cannot be run backward."""
        enter = module_hooks.register_module_forward_pre_hook(lambda module, _: self._stack.append(module))
        leave = module_hooks.register_module_forward_hook(lambda *_: self._leave(), always_call=True)
        try:
            with saved_tensors_hooks(self._pack, self._unpack):
                yield
        finally:
            enter.remove()
            leave.remove()

    def _leave(self) -> None:
        self._stack.pop()

    def _pack(self, tensor: torch.Tensor) -> int:
        storage = tensor.untyped_storage()
        key = _identity(storage)
        if key not in self._outside and key not in self.kept and self._counts(tensor):
            # A loss module made on the spot has no name: the module that made it answers. Code outside all modules has none.
            module = next((module for module in reversed(self._stack) if module in self._names), None)
            dtype = str(tensor.dtype).removeprefix("torch.")
            kind = type(module).__name__ if module is not None else OUTSIDE
            checkpointed = getattr(module, "gradient_checkpointing", False)
            self.kept[key] = Kept(storage, self._names.get(module, ""), kind, tuple(tensor.shape), dtype, checkpointed)
        return key

    def _unpack(self, _: int) -> torch.Tensor:
        raise RuntimeError("This graph is for looking only.")

    def name_slots(self, root: torch.Tensor, *, strict: bool = True) -> None:
        """Walk the graph above `root` and write down which operation's which argument each storage is.

        Checkpointing keeps its inputs beside the graph. Functions written in Python do not show what they keep; with
        `strict`, it is a RuntimeError that no node holds something.
        """
        for operation, slot, key in holders(root):
            if key in self.kept:
                self.kept[key].slots.add(f"{operation}.{slot}")
        for kept in self.kept.values():
            if not kept.slots and kept.checkpointed:
                kept.slots.add("Checkpoint.input")
        lost = [kept for kept in self.kept.values() if not kept.slots]
        if lost and strict:
            raise RuntimeError(f"packed, but on no node of the graph: {lost}")

    def ledger(self) -> list[list[Any]]:
        """Rows (scope, module, class, slots, shape, dtype, count, bytes), in order of first appearance."""
        rows: dict[tuple[Any, ...], list[int]] = {}
        for kept in self.kept.values():
            scope, module = _place(kept)
            row = rows.setdefault((scope, module, kept.kind, " ".join(sorted(kept.slots)), kept.shape, kept.dtype), [0, 0])
            row[0] += 1
            row[1] += kept.storage.nbytes()
        return [[*row[:4], list(row[4]), row[5], *totals] for row, totals in rows.items()]


def _identity(storage: Any) -> int:
    return int(storage._cdata)  # noqa: SLF001 - the address of the storage itself; Python objects come and go


def _place(kept: Kept) -> tuple[str, str]:
    name = kept.module.removeprefix(PEFT_PREFIX)
    within = LAYER.sub("", name)
    if within != name:
        return "layer", within or kept.kind
    return "other", name or kept.kind


def holders(root: torch.Tensor) -> Iterator[tuple[str, str, int]]:
    """Operation, slot and packed value of everything that the graph above `root` holds."""
    todo, seen = [root.grad_fn], set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        todo += [above for above, _ in node.next_functions]
        for slot, key in _held(node):
            yield _operation(node), slot, key


def _operation(node: Any) -> str:
    return re.sub(r"Backward\d*$", "", node.name().split("::")[-1])


def _held(node: Any) -> Iterator[tuple[str, int]]:
    """The packed values of a node by slot, read without unpacking them."""
    for name in dir(node):
        if not name.startswith("_raw_saved_"):
            continue
        raw = getattr(node, name)
        for one in raw if isinstance(raw, (tuple, list)) else [raw]:
            key = getattr(one, "data", None)
            if isinstance(key, int):
                yield name.removeprefix("_raw_saved_"), key


Forward = Callable[[], torch.Tensor]


def saved_bytes(model: torch.nn.Module, forward: Forward, *, ledger: bool = False) -> tuple[int, list[list[Any]]]:
    """Bytes that autograd keeps in `forward`, which gives back the loss, and the ledger when it is wanted."""
    saved = Saved(model)
    with saved.watching():
        loss = forward()
    if ledger:
        saved.name_slots(loss)
    return saved.bytes, saved.ledger() if ledger else []
