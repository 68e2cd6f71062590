import pytest

from gradaccum import api
from gradaccum.catalogue import gpu_memory, gpus
from gradaccum.comparison import METHODS, smallest_gpus

TINY = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 264}  # fmt: skip
RUN = {"config": TINY, "sequence_length": 48, "micro_batch": 2}


def ask(calculator, inputs, **more):
    return api.answer({"calculator": calculator, "inputs": inputs} | more)


@pytest.mark.parametrize("more", [{}, {"precision": "fp32"}, {"checkpointing": "full", "rank": 4, "targets": "attention"}])
def test_each_row_is_what_that_method_alone_gives(more):
    rows = ask("training_memory", RUN | more | {"compare": True})["outputs"]["methods"]
    assert tuple(row["method"] for row in rows) == METHODS
    for row in rows:
        alone = ask("training_memory", RUN | more | {"method": row["method"]})["outputs"]
        assert (row["peak"], row["trainable_parameters"]) == (alone["peak"], alone["trainable_parameters"])
        assert row["gpu_memory"] >= row["peak"]
    assert rows[2]["peak"] <= rows[1]["peak"]


def test_only_who_asks_pays_for_the_comparison():
    assert "methods" not in ask("training_memory", RUN)["outputs"]
    assert "methods" not in ask("lora", {"config": TINY, "rank": 2})["outputs"]


def test_adapters_are_compared_for_a_length():
    found = ask("lora", {"config": TINY, "rank": 2, "sequence_length": 48, "micro_batch": 2, "checkpointing": "full"})
    again = RUN | {"checkpointing": "full", "rank": 2, "compare": True}
    assert found["outputs"]["methods"] == ask("training_memory", again)["outputs"]["methods"]
    assert "methods_compared" in [note["code"] for note in found["notes"]]


def test_layers_that_do_not_exist_cannot_be_compared():
    response = ask("training_memory", RUN | {"compare": True, "targets": "nothing"})
    assert [(error["field"], error["code"]) for error in response["errors"]] == [("targets", "unknown_value")]


@pytest.mark.parametrize("need, memory", [(1, 12), (12 * 2**30, 12), (12 * 2**30 + 1, 16), (142 * 2**30, 180)])
def test_the_smallest_devices_that_hold_it(need, memory):
    found, names = smallest_gpus(need)
    assert found == memory * 2**30
    assert names == [name for name, gpu in gpus().items() if gpu["memory_gib"] == memory and gpu["kind"] != "unified"]
    assert all(gpu_memory(name) >= need for name in names)


@pytest.mark.parametrize("name", gpus())
def test_memory_that_is_shared_with_the_machine_is_left_out(name):
    found, names = smallest_gpus(gpu_memory(name))
    assert [other for other in names if gpus()[other]["kind"] == "unified"] == []
    assert (found == gpu_memory(name)) is (name in names) or gpus()[name]["kind"] == "unified"


@pytest.mark.parametrize("language, words", [("en", "none is large enough"), ("ar", "لا شيء منها يكفي")])
def test_what_no_device_holds(language, words):
    assert smallest_gpus(2**60) == (None, [])
    inputs = {"model": "llama-3.1-405b", "sequence_length": 512, "micro_batch": 1, "compare": True}
    response = ask("training_memory", inputs, language=language, view=True)
    table = next(output["table"] for output in response["view"]["outputs"] if output["name"] == "methods")
    assert table["rows"][0][-1] == words


def test_a_row_names_the_devices_that_hold_it():
    for row in ask("training_memory", RUN | {"compare": True})["outputs"]["methods"]:
        assert (row["gpu_memory"], row["gpus"]) == smallest_gpus(row["peak"])
