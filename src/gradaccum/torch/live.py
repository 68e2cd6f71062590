"""Live bytes on the GPU without content: the library counts every storage from its birth to its death."""

import gc
from typing import Any

from .cuda import library


class LiveBytes:
    """Bytes that came to life since this object was made."""

    def __init__(self) -> None:
        gc.collect()
        self._library: Any = library()
        self._before = self._library.gradaccum_live()

    @property
    def live(self) -> int:
        """What lives now."""
        return int(self._library.gradaccum_live() - self._before)

    @property
    def peak(self) -> int:
        """The most that lived at once in this phase."""
        return int(self._library.gradaccum_peak() - self._before)

    def phase(self) -> int:
        """Start a new phase, whose peak begins at what lives now."""
        self._library.gradaccum_start_phase()
        return self.live

    def record(self) -> None:
        """Write down from now on what lives after every birth and death."""
        self._library.gradaccum_record()

    @property
    def events(self) -> int:
        """Births and deaths written down so far."""
        return int(self._library.gradaccum_events())

    def history(self, since: int = 0) -> list[int]:
        """What lived after each of them, from event ``since`` on."""
        return [live - self._before for live in self._library.gradaccum_history()[since : self.events]]
