"""The PEFT configuration that the pages give trains as many weights as they say."""

import pytest
import transformers
from peft import PeftModel

from gradaccum import api

SIZES = {"vocab_size": 264, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 176}
CONFIGS = {
    "llama": ("LlamaForCausalLM", SIZES | {"num_key_value_heads": 2}),
    "gpt2": ("GPT2LMHeadModel", {"vocab_size": 264, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "phi3": ("Phi3ForCausalLM", SIZES | {"num_key_value_heads": 2, "pad_token_id": 0}),
    "bert": ("BertForSequenceClassification", SIZES),
    "vit": ("ViTForImageClassification", {key: SIZES[key] for key in SIZES if key != "vocab_size"}),
}


@pytest.mark.parametrize("targets", ["all-linear", "attention"])
@pytest.mark.parametrize("model_type", CONFIGS)
@pytest.mark.filterwarnings("ignore:fan_in_fan_out is set to False", "ignore:.is_gradient_checkpointing. is deprecated")
def test_it_trains_what_is_counted(model_type: str, targets: str) -> None:
    name, sizes = CONFIGS[model_type]
    inputs = {"config": sizes | {"model_type": model_type}, "rank": 4, "alpha": "8", "targets": targets}
    outputs = api.answer({"calculator": "lora", "inputs": inputs})["outputs"]
    model_class = getattr(transformers, name)
    scope = {"model": model_class(model_class.config_class(**sizes))}
    exec(outputs["peft"][0]["text"], scope)  # noqa: S102 - running it is the test
    adapted = scope["model"]
    assert isinstance(adapted, PeftModel)
    assert adapted.get_nb_trainable_parameters()[0] == outputs["trainable_parameters"]
