"""One accumulation window after another on the imagined device, phase by phase."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from gradaccum.errors import InputError

from .saved import Saved, holders
from .session import Session
from .subject import Losses, Subject

ALIASES = {"sgd-momentum": ("SGD", {"momentum": 0.9})}


@dataclass(frozen=True)
class Span:
    """One phase: bytes alive at its start, its peak and its end, and where it lies among all births and deaths.

    ``gradients`` and ``states`` are the buffers' and the optimizer's part of the peak.
    """

    update: int
    micro_batch: int
    phase: str
    start: int
    peak: int
    end: int
    gradients: int
    states: int
    events: tuple[int, int]


def optimizer_for(subject: Subject, name: str, *, foreach: bool) -> torch.optim.Optimizer:
    """Any of ``torch.optim`` by its name, whatever its capitals. Errors: ``InputError`` at ``optimizer``."""
    known = {found.__name__.casefold(): found for found in vars(torch.optim).values() if _is_optimizer(found)}
    wanted, options = ALIASES.get(name.casefold(), (name, {}))
    made = known.get(wanted.casefold())
    if made is None:
        names = ", ".join(sorted(found.__name__ for found in known.values()))
        raise InputError("optimizer", "unknown_value", "known_names", value=name, known=names)
    if "foreach" in inspect.signature(made).parameters:
        options = {**options, "foreach": foreach}
    try:
        return made(subject.trainable, lr=1e-3, **options)
    except ValueError as error:
        raise InputError("optimizer", "unknown_value", "not_this_optimizer", value=name, reason=str(error)) from error


def _is_optimizer(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, torch.optim.Optimizer) and found is not torch.optim.Optimizer


def saved(subject: Subject, session: Session, micro_batch: int, *, ledger: bool = False) -> tuple[int, list[list[Any]]]:
    """Bytes that autograd keeps for one micro-batch, the most before any backward pass of it, and the ledger of then."""
    kept = Saved(subject.model, session.owns)
    losses = Losses(subject, subject.batch(micro_batch))
    most = 0
    rows: list[list[Any]] = []
    while True:
        with kept.watching(), session.autocast():
            loss = losses.next()
        if loss is None:
            return most, rows
        if kept.bytes > most:
            most = kept.bytes
            if ledger:
                kept.name_slots(loss, strict=False)
                rows = kept.ledger()
        # The backward pass of this loss would free what its graph holds.
        for _, _, key in holders(loss):
            kept.kept.pop(key, None)
        del loss


class Window:
    """Runs updates of ``accumulation_steps`` micro-batches and writes every phase down in ``spans``."""

    def __init__(self, subject: Subject, session: Session, optimizer: torch.optim.Optimizer) -> None:
        self.subject, self.session, self.optimizer = subject, session, optimizer
        self.spans: list[Span] = []
        self.states = 0
        self._born: list[tuple[int, int]] = []
        self._buffers: set[torch.nn.Parameter] = set()
        for parameter in subject.trainable:
            parameter.register_post_accumulate_grad_hook(self._accumulated)

    def update(self, number: int, micro_batch: int, accumulation_steps: int, tick: Callable[[], None]) -> None:
        """One window and its optimizer step; ``tick`` is called after each micro-batch."""
        for step in range(accumulation_steps):
            self._micro_batch(number, step + 1, micro_batch)
            tick()
        with self._phase(number, accumulation_steps, "optimizer_step"):
            try:
                self.optimizer.step()
            except (TypeError, RuntimeError) as error:
                name = type(self.optimizer).__name__
                raise InputError("optimizer", "unknown_value", "not_this_optimizer", value=name, reason=str(error)) from error
            self.states = self._state_bytes()
        self.optimizer.zero_grad(set_to_none=True)
        self._buffers.clear()
        self._born.clear()

    def _micro_batch(self, update: int, number: int, micro_batch: int) -> None:
        which = "first" if number == 1 else "later"
        # As in a training loop, the micro-batch lives as long as its loop body runs.
        batch = self.subject.batch(micro_batch)
        losses = Losses(self.subject, batch)
        loss: torch.Tensor | None = None
        while True:
            with self._phase(update, number, f"{which}_forward"), self.session.autocast():
                loss = losses.next()
            if loss is None:
                # Behind the last loss nothing runs forward.
                self.spans.pop()
                return
            with self._phase(update, number, f"{which}_backward"):
                loss.backward()
                loss = None

    @contextmanager
    def _phase(self, update: int, number: int, phase: str) -> Iterator[None]:
        live = self.session.live
        start, first = live.phase(), live.events
        yield
        history = live.history(first)
        peak_at = first + (history.index(max(history)) if history else 0)
        gradients = sum(size for event, size in self._born if event <= peak_at + 1)
        self.spans.append(
            Span(update, number, phase, start, live.peak, live.live, gradients, self.states, (first, live.events))
        )

    def _accumulated(self, parameter: torch.nn.Parameter) -> None:
        if parameter not in self._buffers and parameter.grad is not None:
            self._buffers.add(parameter)
            self._born.append((self.session.live.events, parameter.grad.untyped_storage().nbytes()))

    def _state_bytes(self) -> int:
        found = {
            tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes()  # noqa: SLF001 - the storage's address
            for state in self.optimizer.state.values()
            for tensor in state.values()
            if isinstance(tensor, torch.Tensor) and self.session.owns(tensor)
        }
        return sum(found.values())
