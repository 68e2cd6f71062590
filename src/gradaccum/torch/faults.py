"""Where the reader's code asked for what shapes cannot give."""

import linecache
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

# They read a value or two to take a shortcut; "no shortcut" is always a right answer to them.
ANSWERED = {"transformers", "peft", "accelerate"}
# What stands between the reader's line and the operator.
BETWEEN = {"torch", "gradaccum", "contextlib", "functools", "threading", "runpy", "_ctypes", "ctypes", "importlib"}


@dataclass(frozen=True)
class Place:
    """A line of code."""

    file: str
    line: int

    @property
    def where(self) -> str:
        """The file, from the working directory on where it lies inside it, and the line."""
        path = Path(self.file)
        here = Path.cwd()
        return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{self.line}"

    @property
    def code(self) -> str:
        """The line itself."""
        return linecache.getline(self.file, self.line).strip()


class ValueNeededError(RuntimeError):
    """Code asked for the value of a tensor that has a shape only."""

    def __init__(self, place: Place | None) -> None:
        super().__init__("a value was asked for")
        self.place = place


class Listener:
    """Decides whose questions for values are answered, and remembers where the first refused one stood."""

    def __init__(self) -> None:
        self.refused: Place | None = None

    def __call__(self) -> bool:
        """Whether the code that asks for a value gets one."""
        frame = _asking(sys._getframe(1))  # noqa: SLF001 - the frame is the question's place
        if frame is None or _package(frame) in ANSWERED:
            return True
        self.refused = self.refused or Place(frame.f_code.co_filename, frame.f_lineno)
        return False


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _asking(frame: FrameType | None) -> FrameType | None:
    while frame is not None and _package(frame) in BETWEEN:
        frame = frame.f_back
    return frame


def place_of(error: BaseException) -> Place | None:
    """The innermost line outside PyTorch and this package that an error passed through."""
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if _package(frame) not in BETWEEN]
    return Place(frames[-1][0].f_code.co_filename, frames[-1][1]) if frames else None
