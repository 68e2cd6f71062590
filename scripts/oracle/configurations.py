"""A model to record: its class, its configuration, and where it is measured."""

import copy
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers
from transformers import PretrainedConfig

Point = tuple[int, int]
TINY_SAVED: tuple[Point, ...] = ((1, 48), (2, 48), (3, 40))
TINY_PEAKS: tuple[Point, ...] = ((1, 48), (3, 40))
FULL_SAVED: tuple[Point, ...] = ((1, 1024), (2, 512))


@dataclass(frozen=True)
class Configuration:
    """A model class of Transformers and the configuration fields that differ from its defaults.

    Points are (micro-batch, sequence length). For images the length is the number of patches and the class token.
    """

    name: str
    model_class_name: str
    fields: dict[str, Any]
    saved_points: tuple[Point, ...] = TINY_SAVED
    peak_points: tuple[Point, ...] = TINY_PEAKS
    head: str = "clm"
    attentions: tuple[str, ...] = ("sdpa", "eager")
    takes_mask: bool = True
    lora: dict[str, Any] = field(default_factory=lambda: {"task_type": "CAUSAL_LM"})

    @property
    def model_class(self) -> Any:
        """The class in Transformers."""
        return getattr(transformers, self.model_class_name)

    @property
    def published(self) -> bool:
        """Whether this is a model in use, and not a tiny one made up for the tests."""
        return not self.name.startswith("tiny")

    def config(self) -> PretrainedConfig:
        """A new configuration object, with no cache: this is training."""
        config = self.model_class.config_class(**copy.deepcopy(self.fields))
        config.use_cache = False
        return config

    @property
    def grouped(self) -> bool:
        """Whether several query heads share a key head."""
        config = self.config()
        heads = config.num_attention_heads
        return (getattr(config, "num_key_value_heads", None) or heads) != heads

    def inputs(self, b: int, s: int, *, padded: bool) -> dict[str, torch.Tensor]:
        """What one micro-batch brings: token ids or pixels, labels, and a padding mask."""
        if self.head == "images":
            side = self.config().image_size
            pixels = torch.zeros(b, 3, side, side, dtype=torch.get_default_dtype())
            return {"pixel_values": pixels, "labels": torch.zeros(b, dtype=torch.int64)}
        inputs = {"input_ids": torch.zeros(b, s, dtype=torch.int64)}
        inputs["labels"] = torch.zeros(*((b, s) if self.head == "clm" else (b,)), dtype=torch.int64)
        if padded:
            inputs["attention_mask"] = torch.zeros(b, s, dtype=torch.int64)
        return inputs
