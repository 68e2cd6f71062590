"""The dry run: a whole window and two updates on shapes, and what came out."""

import re
from collections.abc import Callable
from typing import Any

import torch

from .configured import from_config
from .session import Session
from .subject import Subject, from_function
from .window import Span, Window, optimizer_for, saved

UPDATES = 2
MOST_POINTS = 1200
Outputs = dict[str, Any]


class Trace:
    """Fills ``outputs`` step by step, so that an interrupted run keeps what it has."""

    def __init__(self, session: Session, request: dict[str, Any], tell: Callable[[Outputs, int, int], None]) -> None:
        self.session, self.request = session, request
        self.outputs: Outputs = {"complete": False, "engine": session.kind, "torch": torch.__version__.partition("+")[0]}
        self._tell, self._done, self._all = tell, 0, 1

    def run(self) -> Outputs:
        """Everything. Errors: ``InputError``, and whatever the reader's code raises."""
        session, request = self.session, self.request
        build = from_function if ":" in request["source"] else from_config
        subject = build(session, request)
        micro_batch, steps = request["micro_batch"], request["accumulation_steps"]
        self._all = 2 + UPDATES * steps + 2 * min(steps, 2)
        self._weights(subject)
        self._saved(subject, micro_batch)
        session.live.record()
        self._updates(subject, micro_batch, steps)
        self.outputs["complete"] = True
        return self.outputs

    def _tick(self) -> None:
        self._done += 1
        self._tell(self.outputs, self._done, self._all)

    def _weights(self, subject: Subject) -> None:
        everything = [*subject.model.parameters(), *subject.model.buffers()]
        storages = {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in everything}  # noqa: SLF001 - its address
        self.outputs |= {
            "parameters": sum(parameter.numel() for parameter in subject.model.parameters()),
            "trainable_parameters": sum(parameter.numel() for parameter in subject.trainable),
            "weights": sum(storages.values()),
            "gradients": sum(parameter.nbytes for parameter in subject.trainable),
        }

    def _saved(self, subject: Subject, micro_batch: int) -> None:
        """A and its constant part from two and three samples: one alone can be a special case.

        Five tell whether what is kept grows evenly at all; where samples are compared with each other, it does not.
        """
        two, three, five = (saved(subject, self.session, b)[0] for b in (2, 3, 5))
        self._tick()
        kept, rows = saved(subject, self.session, micro_batch, ledger=True)
        self._tick()
        self.outputs |= {
            "activation_per_sample": three - two,
            "activation_constant": 3 * two - 2 * three,
            "affine": five == three + 2 * (three - two),
            "activations": kept,
            "modules": by_module(rows, module_lists(subject.model)),
            "ledger": [ledger_line(row) for row in rows],
        }

    def _updates(self, subject: Subject, micro_batch: int, steps: int) -> None:
        optimizer = optimizer_for(subject, self.request["optimizer"], foreach=self.request["foreach"])
        window = Window(subject, self.session, optimizer)

        def tick() -> None:
            self._phases(window.spans)
            self._tick()

        for number in range(1, UPDATES + 1):
            window.update(number, micro_batch, steps, tick)
        self.outputs["optimizer_states"] = window.states
        self._phases(window.spans)
        self.outputs["timeline"] = timeline(self.session.live.history(), window.spans)
        self._plan(window, micro_batch, min(steps, 2))

    def _phases(self, spans: list[Span]) -> None:
        rows = phases(spans, self.outputs)
        top = max(rows, key=lambda row: row["peak"])
        self.outputs |= {"phases": rows, "peak": top["peak"], "peak_phase": top["phase"]}

    def _plan(self, window: Window, micro_batch: int, steps: int) -> None:
        """The line that the steady peak follows as the micro-batch grows, from two sizes beyond one.

        Micro-batches from the third on repeat the second, so two of them are enough.
        """
        sizes = (max(2, micro_batch), max(2, micro_batch) + 1)
        found = []
        for number, size in enumerate(sizes, UPDATES + 1):
            window.update(number, size, steps, self._tick)
            found.append(steady(window.spans, number))
        self.outputs["plan"] = line(sizes, *found)


def steady(spans: list[Span], update: int) -> dict[str, int]:
    """The highest peak of each kind of phase in one update."""
    peaks: dict[str, int] = {}
    for span in spans:
        if span.update == update:
            peaks[span.phase] = max(span.peak, peaks.get(span.phase, 0))
    return peaks


def line(sizes: tuple[int, int], low: dict[str, int], high: dict[str, int]) -> dict[str, int]:
    """``fixed_memory + b · activation_per_sample``, the peak of the highest pass; ``floor``: that of the optimizer step."""
    floor = low.pop("optimizer_step")
    phase = max(low, key=lambda name: (low[name], high[name]))
    slope = high[phase] - low[phase]
    return {"activation_per_sample": slope, "fixed_memory": low[phase] - sizes[0] * slope, "floor": floor}


def phases(spans: list[Span], outputs: Outputs) -> list[dict[str, Any]]:
    """The highest of each kind of phase in each update, and what its peak is made of, in bytes."""
    highest: dict[tuple[int, str], Span] = {}
    for span in spans:
        key = (span.update, span.phase)
        if key not in highest or span.peak > highest[key].peak:
            highest[key] = span
    return [
        {"update": update, "phase": phase, "peak": span.peak, "parts": parts(span, outputs)}
        for (update, phase), span in highest.items()
    ]


def parts(span: Span, outputs: Outputs) -> dict[str, int]:
    """Weights, optimizer state, gradients, what autograd keeps, and the rest, which together are the peak."""
    rest = span.peak - outputs["weights"] - span.states - span.gradients
    activations = 0 if span.phase == "optimizer_step" else min(outputs["activations"], rest)
    return {
        "weights": outputs["weights"],
        "optimizer_states": span.states,
        "gradients": span.gradients,
        "activations": activations,
        "temporaries": rest - activations,
    }


def module_lists(model: torch.nn.Module) -> list[str]:
    """Names of the lists of modules: their members are layers alike."""
    return [name for name, module in model.named_modules() if isinstance(module, torch.nn.ModuleList)]


def by_module(rows: list[list[Any]], lists: list[str]) -> list[dict[str, Any]]:
    """Bytes kept by each module, all layers together, the largest first: ``blocks.*.norm`` are those of every block."""
    sums: dict[str, list[int]] = {}
    for scope, module, *_, times, size in rows:
        name = f"{scope}: {module}" if scope == "layer" else module
        for one in lists:
            name = re.sub(rf"^{re.escape(one)}\.\d+(?=\.|$)", f"{one}.*", name)
        total = sums.setdefault(name, [0, 0])
        total[0] += times
        total[1] += size
    found = [{"module": name, "times": times, "bytes": size} for name, (times, size) in sums.items()]
    return sorted(found, key=lambda row: -int(row["bytes"]))


def ledger_line(row: list[Any]) -> dict[str, Any]:
    """A row of the ledger with names."""
    return dict(zip(("scope", "module", "class", "slots", "shape", "dtype", "times", "bytes"), row, strict=True))


def timeline(history: list[int], spans: list[Span]) -> dict[str, Any]:
    """Bytes alive over time, where a tick of the clock is a birth or a death of a tensor, thinned out but for its extremes."""
    end = spans[-1].events[1]
    width = max(1, -(-2 * end // MOST_POINTS))
    points = []
    for first in range(0, end, width):
        part = history[first : min(first + width, end)]
        low, high = min(part), max(part)
        extremes = {first + part.index(low): low, first + part.index(high): high}
        points += [[event, extremes[event]] for event in sorted(extremes)]
    return {
        "points": points,
        "phases": [
            {"update": s.update, "micro_batch": s.micro_batch, "phase": s.phase, "from": s.events[0], "to": s.events[1]}
            for s in spans
        ],
    }
