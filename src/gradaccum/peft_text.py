"""The PEFT configuration that trains what is counted here, as text to paste."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from gradaccum.architecture import Architecture

# With a task type peft would train these models' heads in full beside the adapters; these figures keep them frozen.
HEADED = {"bert": "AutoModelForSequenceClassification", "vit": "AutoModelForImageClassification"}


def files(architecture: Architecture, **options: Any) -> list[dict[str, str]]:
    """The text of ``configuration`` as a file."""
    return [{"name": "adapters.py", "language": "python", "text": configuration(architecture, **options)}]


def configuration(  # noqa: PLR0913 - each is a line of the text
    architecture: Architecture,
    *,
    rank: int,
    targets: str | Sequence[str],
    dtype: str = "fp32",
    alpha: Fraction | None = None,
    quantized: str | None = None,
) -> str:
    """``LoraConfig`` and the call that applies it; with ``quantized``, a model's name, also how it is loaded in four bits.

    ``alpha`` is left out where none is given: peft then takes 8.
    Source: peft 0.21, Transformers 5.24.

    >>> print(configuration(Architecture("gpt2", 768, 3072, 12, 12, 12, 64), rank=8, targets="all-linear"))
    from peft import LoraConfig, get_peft_model
    <BLANKLINE>
    config = LoraConfig(
        r=8,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    model = get_peft_model(model, config)
    """
    loader = HEADED.get(architecture.model_type, "AutoModelForCausalLM")
    names = targets if isinstance(targets, str) else list(targets)
    options = [f"r={rank},"]
    if alpha is not None:
        options.append(f"lora_alpha={alpha.numerator if alpha.denominator == 1 else float(alpha)},")
    options.append(f"target_modules={names!r},".replace("'", '"'))
    headed = architecture.model_type in HEADED
    options.append('exclude_modules=".*classifier",' if headed else 'task_type="CAUSAL_LM",')
    # peft raises half-precision adapters to fp32 unless it is told not to.
    switch = "" if dtype == "fp32" else ", autocast_adapter_dtype=False"
    lines = ["from peft import LoraConfig, get_peft_model"]
    if quantized is not None:
        lines = [
            "import torch",
            *lines,
            f"from transformers import {loader}, BitsAndBytesConfig",
            "",
            *_loaded(loader, quantized),
        ]
    lines += ["", "config = LoraConfig(", *_indented(options), ")", f"model = get_peft_model(model, config{switch})"]
    return "\n".join(lines)


def _loaded(loader: str, name: str) -> list[str]:
    """A model in NF4 with double quantization, computing in bf16."""
    options = ("load_in_4bit=True,", 'bnb_4bit_quant_type="nf4",', "bnb_4bit_use_double_quant=True,")
    quantization = _indented((*options, "bnb_4bit_compute_dtype=torch.bfloat16,"))
    arguments = (f'"{name}",', "dtype=torch.bfloat16,", "quantization_config=BitsAndBytesConfig(", *quantization, "),")
    return [f"model = {loader}.from_pretrained(", *_indented(arguments), ")"]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
