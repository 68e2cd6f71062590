import json

import pytest

from gradaccum import api

CONFIG = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 264}  # fmt: skip
RUN = {"config": CONFIG, "sequence_length": 48, "micro_batch": 2}
EXPERTS = CONFIG | {"model_type": "mixtral", "num_local_experts": 4}


def ask(calculator, inputs, **more):
    return json.loads(api.run(json.dumps({"calculator": calculator, "inputs": inputs} | more)))


def codes(response):
    return [note["code"] for note in response["notes"]]


@pytest.mark.parametrize(
    "inputs, notes",
    [
        ({}, ["traced_not_measured"]),
        ({"model": "gpt2"}, ["config_over_model", "traced_not_measured"]),
        ({"accumulation_steps": 2}, ["one_gradient_buffer", "traced_not_measured"]),
        ({"accumulation_steps": 2, "zero_grad_to_none": False}, ["traced_not_measured"]),
        ({"gpu": "RTX 4090"}, ["traced_not_measured"]),
        ({"memory_budget": "1 MB"}, ["accumulation_cannot_help", "traced_not_measured"]),
        ({"memory_budget": "2.5 MB", "micro_batch": 64}, ["smaller_micro_batch_fits", "traced_not_measured"]),
    ],
)
def test_notes(inputs, notes):
    response = ask("training_memory", RUN | inputs, view=True, language="ar")
    assert response["ok"], response
    assert codes(response) == notes


def test_the_outputs_hang_together():
    outputs = ask("training_memory", RUN | {"accumulation_steps": 8, "memory_budget": "1 GiB", "gpu": "T4"})["outputs"]
    peaks = {phase["phase"]: phase["peak"] for phase in outputs["phases"]}
    assert outputs["peak"] == max(peaks.values()) == peaks[outputs["peak_phase"]]
    assert outputs["fits"] is True
    assert outputs["headroom"] == 2**30 - outputs["peak"]
    assert outputs["largest_micro_batch"] > 2
    assert outputs["activations"] == sum(line["bytes"] for line in outputs["ledger"])
    assert [line["bytes"] for line in outputs["ledger"]] == sorted((line["bytes"] for line in outputs["ledger"]), reverse=True)
    assert {"fits", "headroom"}.isdisjoint(ask("training_memory", RUN)["outputs"])


@pytest.mark.parametrize(
    "inputs, field, code",
    [
        ({"config": None}, "model", "missing"),
        ({"config": {}}, "config", "missing"),
        ({"config": {"model_type": "mamba"}}, "config", "unsupported_model"),
        ({"config": CONFIG | {"hidden_size": "x"}}, "config", "wrong_type"),
        ({"config": CONFIG | {"num_attention_heads": 7}}, "config", "inconsistent"),
        ({"config": "{"}, "config", "malformed"),
        ({"config": "[]"}, "config", "wrong_type"),
        ({"config": None, "model": "llama-9"}, "model", "unknown_value"),
        ({"method": "lora", "targets": ["nothing"]}, "targets", "unknown_value"),
        ({"method": "lora", "targets": []}, "targets", "wrong_type"),
        ({"attention": "flash", "precision": "fp32"}, "attention", "unknown_value"),
        ({"foreach": "maybe"}, "foreach", "wrong_type"),
    ],
)
@pytest.mark.parametrize("language", ["en", "ar"])
def test_faults(inputs, field, code, language):
    response = ask("training_memory", RUN | inputs, language=language)
    assert [(error["field"], error["code"]) for error in response["errors"]] == [(field, code)]
    assert all(error["message"] and error["hint"] for error in response["errors"])


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "1e400", 10**400, [float("inf")], {"a": float("-inf")}])
def test_numbers_that_json_cannot_give_back_come_back_as_text(value):
    text = json.dumps({"calculator": "lora", "inputs": {"config": CONFIG | {"note": value}, "rank": 2}, "view": True})
    assert json.loads(api.run(text.replace('"1e400"', "1e400")))["ok"]


def test_names_of_layers_do_not_matter_without_adapters():
    assert ask("training_memory", RUN | {"targets": "nothing"})["ok"]


@pytest.mark.parametrize("precision", ["bf16", "fp32", "bf16-mixed", "fp16-mixed", "bf16-autocast"])
@pytest.mark.parametrize("adapter_dtype", ["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
@pytest.mark.parametrize("model_type", ["llama", "gpt2", "mixtral", "qwen3_moe", "bert", "vit"])
def test_every_mixture_of_dtypes_is_answered(precision, adapter_dtype, method, model_type):
    config = CONFIG | {"model_type": model_type, "num_key_value_heads": 4}
    run = RUN | {"config": config, "precision": precision, "adapter_dtype": adapter_dtype, "method": method}
    assert ask("training_memory", run)["ok"]


def test_a_fused_loss_keeps_fewer_bytes():
    standard, fused = (ask("training_memory", RUN | {"loss": loss})["outputs"] for loss in ("standard", "fused"))
    assert fused["activations"] < standard["activations"]
    lora = ask("training_memory", RUN | {"loss": "fused", "method": "lora"})["outputs"]
    assert "grad_weight" in {line["slot"] for line in fused["ledger"]}
    assert "grad_weight" not in {line["slot"] for line in lora["ledger"]}


def test_adapters_are_counted():
    response = ask("lora", {"config": CONFIG, "rank": 2, "alpha": 4, "targets": ["q_proj"]})
    assert response["outputs"]["trainable_parameters"] == 3 * 2 * 128
    assert response["outputs"]["adapter_bytes"] == 4 * 3 * 2 * 128
    assert response["outputs"]["scaling"] == 2
    assert response["outputs"]["by_module"] == [{"module": "self_attn.q_proj", "parameters": 768}]
    assert len(response["steps"]) == 3
    assert "scaling" not in ask("lora", {"config": CONFIG, "rank": 2})["outputs"]


@pytest.mark.parametrize(
    "inputs, expected",
    [
        ({}, [("model", "missing")]),
        ({"model": "gpt2", "rank": 0}, [("rank", "not_positive")]),
        ({"config": CONFIG, "targets": ["up"]}, [("targets", "unknown_value")]),
        ({"config": CONFIG | {"model_type": None}}, [("config", "missing")]),
    ],
)
def test_faults_of_adapters(inputs, expected):
    response = ask("lora", {"rank": 4} | inputs)
    assert [(error["field"], error["code"]) for error in response["errors"]] == expected


def test_a_config_goes_before_a_model():
    assert codes(ask("lora", {"config": CONFIG, "model": "gpt2", "rank": 1})) == ["config_over_model"]


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("calculator", ["lora", "training_memory", "plan"])
def test_what_is_taken_for_sizes_left_out_is_said(calculator, language):
    config = {name: size for name, size in CONFIG.items() if name not in ("vocab_size", "num_key_value_heads")}
    inputs = {
        "lora": {"rank": 1},
        "training_memory": {"sequence_length": 48, "micro_batch": 2},
        "plan": {"sequence_length": 48, "effective_batch": 4, "memory_budget": "1 GiB"},
    }
    response = ask(calculator, {"config": config} | inputs[calculator], language=language)
    [note] = [note for note in response["notes"] if note["code"] == "config_defaults"]
    assert "vocab_size = 32000" in note["message"]
    assert "num_key_value_heads" not in note["message"]


def test_a_soft_cap_runs_in_eager_attention():
    request = {"model": "gemma-2-2b", "sequence_length": 512, "micro_batch": 1}
    asked, eager, flash = (
        api.answer({"calculator": "training_memory", "inputs": request | more})
        for more in ({}, {"attention": "eager"}, {"attention": "flash"})
    )
    assert asked["outputs"]["activations"] == eager["outputs"]["activations"] > flash["outputs"]["activations"]
    assert "softcap_runs_eager" in [note["code"] for note in asked["notes"]]
    assert "softcap_runs_eager" not in [note["code"] for note in eager["notes"]]


def test_a_list_of_one_known_word_is_that_word():
    outputs = [
        api.answer({"calculator": "lora", "inputs": {"model": "gpt2", "rank": 8, "targets": targets}})["outputs"]
        for targets in ("all-linear", ["all-linear"], "All-Linear")
    ]
    assert outputs[0] == outputs[1] == outputs[2]
