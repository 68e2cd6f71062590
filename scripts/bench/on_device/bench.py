"""What every measurement gets: the device, the settings of the run, and how it is broken, if it is."""

from dataclasses import dataclass
from typing import Any

import torch

from .devices import Cpu, Cuda
from .models import LENGTH, llama_config


@dataclass(frozen=True)
class Bench:
    """One run on one device. `kind` chooses sizes and configurations; a rehearsal takes those of a GPU to a CPU, made small."""

    device: Cpu | Cuda
    kind: str
    broken: str = ""
    ranks: int = 1
    rank: int = 0

    @property
    def torch(self) -> torch.device:
        """PyTorch's name of the device."""
        return self.device.torch

    @property
    def size(self) -> str:
        """Which of the two sizes of model is measured."""
        return self.device.kind

    @property
    def length(self) -> int:
        """Tokens of a sequence."""
        return LENGTH[self.size]

    def config(self, **changes: Any) -> dict[str, Any]:
        """The measured Llama."""
        return llama_config(self.size, **changes)
