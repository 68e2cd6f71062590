"""The process that runs a dry run: a request on standard input, the result in the file that it names.

A process of its own, because the small library makes PyTorch believe in a GPU, and has to come before it.
"""

import contextlib
import importlib.util
import json
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from gradaccum.errors import InputError

AUTOCAST = {"bf16-mixed": "bfloat16", "fp16-mixed": "float16", "bf16-autocast": "bfloat16"}
PATIENCE = 1.0
BAR = 30


def main() -> None:
    """Answer the request; an interrupted run leaves what it has, marked as incomplete."""
    request: dict[str, Any] = json.load(sys.stdin)
    target = Path(request.pop("result"))
    sys.path[:0] = request.pop("path")
    state: dict[str, Any] = {}
    # What the reader's code prints is not the answer.
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        try:
            write(target, {"outputs": answer(request, state, target)})
        except KeyboardInterrupt:
            write(target, {"outputs": state})
            raise SystemExit(130) from None
        except InputError as error:
            write(target, {"error": [error.field, error.code, error.rule, error.details]})


def answer(request: dict[str, Any], state: dict[str, Any], target: Path) -> dict[str, Any]:
    """The outputs of a dry run; ``state`` has what is known so far."""
    if importlib.util.find_spec("torch") is None:
        raise InputError("source", "missing", "package", value="torch")
    from . import cuda, faults, session  # noqa: PLC0415 - none of them without torch

    progress = Progress(target, state)
    try:
        opened = session.open_session(request["device"], AUTOCAST.get(request.get("precision", "")))
    except cuda.UnavailableError as error:
        raise InputError("device", "unknown_value", str(error), value="cuda") from error
    from .trace import Trace  # noqa: PLC0415 - the library comes before torch

    trace = Trace(opened, request, progress)
    state |= trace.outputs
    try:
        outputs = trace.run()
    except InputError:
        raise
    except Exception as error:
        raise translated(error, faults.place_of(error), opened.listener.refused) from error
    finally:
        progress.end()
        opened.close()
    return outputs | {"reason": opened.reason}


def translated(error: Exception, place: Any, refused: Any) -> InputError:
    """What went wrong in the reader's code, with its line."""
    if isinstance(error, ImportError) and place is None:
        return InputError("source", "unknown_value", "no_module", value=str(error), module=error.name)
    at = refused or place
    words = {"where": at.where if at else "?", "line": at.code if at else "?", "reason": _first_line(error)}
    if refused is not None:
        return InputError("source", "unsupported_model", "needs_value", **words)
    if isinstance(error, NotImplementedError):
        return InputError("source", "unsupported_model", "not_on_shapes", **words)
    return InputError("source", "unsupported_model", "failed", kind=type(error).__name__, **words)


def _first_line(error: Exception) -> str:
    """What the error says; of PyTorch's long words on operators without shapes, the operator's name."""
    found = re.search(r"\baten::[\w.]+|\btorch\.\w+\(\)", str(error)) if isinstance(error, NotImplementedError) else None
    return found[0] if found else next(iter(str(error).strip().splitlines()), "")[:300]


class Progress:
    """Keeps the partial result in the file, and draws a bar on a terminal when the run is long."""

    def __init__(self, target: Path, state: dict[str, Any]) -> None:
        self._target, self._state = target, state
        self._started, self._shown, self._written = time.monotonic(), False, 0.0

    def __call__(self, outputs: dict[str, Any], done: int, every: int) -> None:
        """Called after each part of the work."""
        self._state |= outputs
        now = time.monotonic()
        if now - self._written > PATIENCE:
            write(self._target, {"outputs": self._state})
            self._written = now
        if sys.stderr.isatty() and now - self._started > PATIENCE:
            full = BAR * done // every
            sys.stderr.write(f"\r[{'#' * full}{'.' * (BAR - full)}] {done}/{every}")
            sys.stderr.flush()
            self._shown = True

    def end(self) -> None:
        """Clear the bar away."""
        if self._shown:
            sys.stderr.write(f"\r{' ' * (BAR + 16)}\r")


def write(target: Path, document: dict[str, Any]) -> None:
    """The file as a whole or not at all: whoever reads it may come at any time."""
    unfinished = target.with_suffix(".tmp")
    unfinished.write_text(json.dumps(document, default=str), encoding="utf-8")
    unfinished.replace(target)


if __name__ == "__main__":
    main()
