"""The model families, by Hugging Face ``model_type``. To add one: write its module and list it here."""

from __future__ import annotations

from gradaccum.architecture import Architecture
from gradaccum.families.encoders import Bert, Vit
from gradaccum.families.family import Family
from gradaccum.families.gemma import Gemma2, Gemma3
from gradaccum.families.gpt2 import Gpt2
from gradaccum.families.gpt_neox import GptNeox
from gradaccum.families.granite import Granite
from gradaccum.families.llama import Llama
from gradaccum.families.moe import Mixtral, Qwen3Moe
from gradaccum.families.olmo2 import Olmo2
from gradaccum.families.phi3 import Phi3
from gradaccum.families.qwen3 import Qwen3

FAMILIES: dict[str, Family] = {
    "gpt2": Gpt2(),
    "gpt_neox": GptNeox(),
    "llama": Llama(),
    "mistral": Llama(),
    "qwen2": Llama(),
    "qwen3": Qwen3(),
    "gemma2": Gemma2(),
    "gemma3_text": Gemma3(),
    "phi3": Phi3(),
    "olmo2": Olmo2(),
    "granite": Granite(),
    "mixtral": Mixtral(),
    "qwen3_moe": Qwen3Moe(),
    "bert": Bert(),
    "vit": Vit(),
}


def family_of(architecture: Architecture) -> Family:
    """The family that writes this architecture down."""
    return FAMILIES[architecture.model_type]
