"""Live bytes on the GPU without content: the library counts every storage from its birth to its death."""

import ctypes
import gc

from .cuda import library


class LiveBytes:
    """Bytes that came to life since this object was made."""

    def __init__(self) -> None:
        gc.collect()
        self._library = library()
        for name in ("oracle_live", "oracle_peak"):
            getattr(self._library, name).restype = ctypes.c_int64
        self._before = self._library.oracle_live()

    @property
    def live(self) -> int:
        """What lives now."""
        return int(self._library.oracle_live()) - self._before

    @property
    def peak(self) -> int:
        """The most that lived at once in this phase."""
        return int(self._library.oracle_peak()) - self._before

    def phase(self) -> int:
        """Start a new phase, whose peak begins at what lives now."""
        self._library.oracle_start_phase()
        return self.live
