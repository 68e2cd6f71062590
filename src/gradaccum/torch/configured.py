"""A model of Transformers from its ``config.json``, and micro-batches that fit it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from gradaccum.errors import InputError

from .cuda import answer_transformers
from .prepare import prepared
from .session import Session
from .subject import DTYPES, Batch, Subject, call

TOKENS = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForTokenClassification", "ForConditionalGeneration")
SEQUENCES = ("ForSequenceClassification",)
IMAGES = ("ForImageClassification",)


def from_config(session: Session, request: dict[str, Any]) -> Subject:
    """The model class that the file names, or the language model of its type, its weights never initialised."""
    try:
        import transformers  # noqa: PLC0415 - a model of one's own does not need it
        from transformers.initialization import no_init_weights  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        raise InputError("source", "missing", "package", value="transformers") from error
    transformers.logging.set_verbosity_error()
    answer_transformers()
    config, model_class = _chosen(transformers, Path(request["source"]))
    inputs = _inputs(model_class.__name__, config, request)
    config.use_cache = False
    dtype = DTYPES[request.get("precision", "bf16")]
    with session.making(), no_init_weights():
        model = model_class._from_config(config, dtype=dtype)  # noqa: SLF001 - the way to a dtype for a model class
    model.tie_weights()

    def make(micro_batch: int) -> Batch:
        with session.making():
            return inputs(micro_batch)

    return Subject(prepared(model, session, request), make, call)


def _chosen(transformers: Any, path: Path) -> tuple[Any, Any]:
    """The configuration object and the model class."""
    path = path / "config.json" if path.is_dir() else path
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("source", "unknown_value", "no_file", value=path) from error
    except ValueError as error:
        raise InputError("source", "malformed", "config_file", value=path, reason=str(error)) from error
    kind = fields.get("model_type") if isinstance(fields, dict) else None
    if kind not in transformers.CONFIG_MAPPING:
        raise InputError("source", "unsupported_model", "model_type", value=kind)
    config = transformers.CONFIG_MAPPING[kind].from_dict(fields)
    for name in fields.get("architectures") or ():
        if hasattr(transformers, name):
            return config, getattr(transformers, name)
    try:
        return config, transformers.AutoModelForCausalLM._model_mapping[type(config)]  # noqa: SLF001 - its class, not a model
    except KeyError as error:
        raise InputError("source", "unsupported_model", "no_loss", value=kind) from error


def _inputs(name: str, config: Any, request: dict[str, Any]) -> Callable[[int], Batch]:
    """What makes a micro-batch for a model class, by what its name says that it learns."""

    def zeros(*shape: int) -> torch.Tensor:
        return torch.zeros(*shape, dtype=torch.int64)

    if name.endswith(IMAGES):
        side = config.image_size
        height, width = side if isinstance(side, (tuple, list)) else (side, side)
        channels = getattr(config, "num_channels", 3)
        return lambda b: {"pixel_values": torch.zeros(b, channels, height, width), "labels": zeros(b)}
    if not name.endswith(TOKENS + SEQUENCES):
        raise InputError("source", "unsupported_model", "no_loss", value=name)
    if "sequence_length" not in request:
        raise InputError("sequence_length", "missing", "field")
    length = request["sequence_length"]
    if name.endswith(SEQUENCES):
        return lambda b: {"input_ids": zeros(b, length), "labels": zeros(b)}
    return lambda b: {"input_ids": zeros(b, length), "labels": zeros(b, length)}
