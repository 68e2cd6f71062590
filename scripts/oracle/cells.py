"""One model in one setting, measured: what autograd keeps, what lives, what AdamW adds."""

import gc
import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import PreTrainedModel
from transformers.initialization import no_init_weights

from gradaccum.torch.attention import IMPLEMENTATIONS
from gradaccum.torch.cuda import autocast
from gradaccum.torch.live import LiveBytes
from gradaccum.torch.saved import saved_bytes

from .configurations import Configuration

PRECISIONS = {
    "bf16": (torch.bfloat16, False),
    "fp32": (torch.float32, False),
    "bf16-mixed": (torch.float32, True),
    "bf16-autocast": (torch.bfloat16, True),
}
METHODS = ("full", "lora")
Point = tuple[int, int]


@dataclass(frozen=True)
class Cell:
    """What is switched inside one built model."""

    attention: str
    padded: bool
    checkpointing: str


def cells(configuration: Configuration, precision: str) -> Iterator[Cell]:
    """The cells of a configuration: flash takes no masks and no fp32; repeated heads only where heads are grouped."""
    settings = [("flash", False)] * (precision != "fp32")
    settings += [("flash-repeated", False)] * (configuration.grouped and precision != "bf16-autocast")
    settings += [(name, False) for name in configuration.attentions]
    settings += [(name, True) for name in configuration.attentions if configuration.takes_mask]
    for (attention, padded), checkpointing in itertools.product(settings, ("none", "full")):
        yield Cell(attention, padded, checkpointing)


class Watched(TorchDispatchMode):
    """Somebody looks on, as memory trackers do; nothing else.

    While a mode is active PyTorch never adds a gradient into another one in place (``can_accumulate_inplace`` in
    ``torch/csrc/autograd/input_buffer.cpp``), so the sum of two is a third tensor.
    """

    def __torch_dispatch__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation."""
        return function(*args, **(kwargs or {}))


class Bench:
    """A model built once for a precision and a method, then measured in many cells."""

    def __init__(self, configuration: Configuration, precision: str, method: str, device: str = "cuda") -> None:
        self.configuration = configuration
        self.device = device
        dtype, self.autocast = PRECISIONS[precision]
        with torch.device(device):
            self.base = build(configuration, dtype)
            self.model: torch.nn.Module = self.base
            if method == "lora":
                self.model = adapted(self.base, configuration.lora)
        self.model.train()
        # What is there now stays: the collections before each measurement need not look at it again.
        gc.collect()
        gc.freeze()

    @property
    def trainable(self) -> list[torch.nn.Parameter]:
        """What the optimizer updates."""
        return [p for p in self.model.parameters() if p.requires_grad]

    @property
    def parameters(self) -> int:
        """All parameters, adapters among them."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def switch(self, cell: Cell) -> None:
        """Set attention and checkpointing."""
        self.base.set_attn_implementation(IMPLEMENTATIONS[cell.attention])
        if cell.checkpointing == "full":
            self.base.activation_checkpointing_enable()
        else:
            self.base.activation_checkpointing_disable()
            self.base.disable_input_require_grads()

    def inputs(self, point: Point, cell: Cell) -> dict[str, torch.Tensor]:
        """One micro-batch on the device."""
        with torch.device(self.device):
            return self.configuration.inputs(*point, padded=cell.padded)

    def loss(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """A forward pass; only the loss is kept of what the model gives back."""
        with autocast(self.device, self.autocast):
            output = self.model(**inputs)
        return output.loss

    def saved(self, point: Point, cell: Cell, *, ledger: bool = False) -> tuple[int, list[list[Any]]]:
        """Bytes that autograd keeps after one forward pass, and the ledger."""
        inputs = self.inputs(point, cell)
        return saved_bytes(self.model, lambda: self.loss(inputs), ledger=ledger)

    def peaks(self, point: Point, cell: Cell) -> list[list[int]]:
        """[start, peak, end] of first forward, first backward, second forward, second backward."""
        live = LiveBytes()
        inputs = self.inputs(point, cell)
        phases = []
        for _ in range(2):
            start = live.phase()
            loss = self.loss(inputs)
            phases.append([start, live.peak, live.live])
            start = live.phase()
            with Watched():
                loss.backward()
            peak = live.peak
            del loss
            phases.append([start, peak, live.live])
        self._forget_gradients()
        return phases

    def _forget_gradients(self) -> None:
        for parameter in self.trainable:
            parameter.grad = None

    def adamw(self) -> dict[str, dict[str, int]]:
        """Bytes of gradients, AdamW's state, and what two steps need beyond gradients (and, later, the state)."""
        return {"foreach": self._adamw(foreach=True), "single": self._adamw(foreach=False)}

    def _adamw(self, *, foreach: bool) -> dict[str, int]:
        live = LiveBytes()
        for parameter in self.trainable:
            parameter.grad = torch.empty_like(parameter)
        gradients = live.phase()
        optimizer = torch.optim.AdamW(self.trainable, lr=1e-3, foreach=foreach)
        optimizer.step()
        state, first = live.live - gradients, live.peak - gradients
        start = live.phase()
        optimizer.step()
        later = live.peak - start
        del optimizer
        self._forget_gradients()
        return {"grad_bytes": gradients, "state_bytes": state, "step1_extra": first, "step2_extra": later}


def adapted(base: PreTrainedModel, options: dict[str, Any]) -> torch.nn.Module:
    """The model with adapters of rank 16 on every linear layer but the head, in fp32 as peft makes them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return get_peft_model(base, LoraConfig(r=16, target_modules="all-linear", **options))


def build(configuration: Configuration, dtype: torch.dtype) -> PreTrainedModel:
    """The model of a configuration object, in one dtype, its weights never initialised."""
    with no_init_weights():
        make = configuration.model_class._from_config  # noqa: SLF001 - the way to a dtype for a model class
        model = make(configuration.config(), dtype=dtype, attn_implementation="eager")
    model.tie_weights()
    return model
