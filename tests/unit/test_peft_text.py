import ast

import pytest

from gradaccum import api

TINY = {"hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 264}
ADAPTER = {"rank": 8, "targets": "q_proj v_proj", "alpha": "16"}


def text_of(calculator, inputs, **more):
    return api.answer({"calculator": calculator, "inputs": inputs} | more)["outputs"]["peft"][0]["text"]


def call(text, name):
    """The keyword arguments of the one call of that name."""
    (found,) = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and ast.unparse(node.func) == name]
    return {keyword.arg: ast.unparse(keyword.value) for keyword in found.keywords}


@pytest.mark.parametrize(
    "inputs, arguments",
    [
        (ADAPTER, {"r": "8", "lora_alpha": "16", "target_modules": "['q_proj', 'v_proj']", "task_type": "'CAUSAL_LM'"}),
        (ADAPTER | {"alpha": "0.5"}, {"lora_alpha": "0.5"}),
        ({"rank": 4, "targets": "all-linear"}, {"r": "4", "target_modules": "'all-linear'", "lora_alpha": None}),
        ({"rank": 4, "targets": "attention"}, {"target_modules": "['q_proj', 'k_proj', 'v_proj', 'o_proj']"}),
    ],
)
def test_the_text_says_what_was_asked(inputs, arguments):
    found = call(text_of("lora", {"config": TINY | {"model_type": "llama"}} | inputs), "LoraConfig")
    assert {name: found.get(name) for name in arguments} == arguments


@pytest.mark.parametrize("dtype, switch", [("fp32", {}), ("bf16", {"autocast_adapter_dtype": "False"})])
def test_adapters_in_half_precision_need_a_switch(dtype, switch):
    inputs = {"model": "gpt2", "rank": 4, "adapter_dtype": dtype}
    assert call(text_of("lora", inputs), "get_peft_model") == switch


@pytest.mark.parametrize("model_type", ["bert", "vit"])
def test_a_head_stays_as_it_is(model_type):
    found = call(text_of("lora", {"config": TINY | {"model_type": model_type}, "rank": 4}), "LoraConfig")
    assert found["exclude_modules"] == "'.*classifier'"
    assert "task_type" not in found


@pytest.mark.parametrize(
    "inputs, name", [({"model": "gpt2"}, "openai-community/gpt2"), ({"config": TINY | {"model_type": "llama"}}, "name")]
)
def test_four_bits_are_loaded_as_they_are_counted(inputs, name):
    run = inputs | {"method": "qlora", "sequence_length": 64, "micro_batch": 1}
    text = text_of("training_memory", run)
    found = call(text, "BitsAndBytesConfig")
    assert (found["bnb_4bit_quant_type"], found["bnb_4bit_use_double_quant"]) == ("'nf4'", "True")
    assert f'"{name}"' in text
    assert "BitsAndBytesConfig" not in text_of("training_memory", run | {"method": "lora"})


def test_full_training_has_nothing_to_paste():
    request = {"model": "gpt2", "sequence_length": 64, "micro_batch": 1}
    assert "peft" not in api.answer({"calculator": "training_memory", "inputs": request})["outputs"]


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_copied_result_keeps_the_lines(language):
    request = {"calculator": "lora", "inputs": {"model": "gpt2", "rank": 4}, "language": language, "view": True}
    response = api.answer(request)
    assert response["outputs"]["peft"][0]["text"] in response["view"]["text"]
