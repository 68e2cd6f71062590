"""What there is to draw of a training step."""

import pytest

from gradaccum import api
from gradaccum.calculators import CALCULATORS
from gradaccum.pictures import PICTURES

TINY = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 264}  # fmt: skip
RUN = {"config": TINY, "sequence_length": 48, "micro_batch": 2, "accumulation_steps": 4}
ONE = {"first_forward", "first_backward", "optimizer_step"}


def asked(language="en", **inputs):
    request = {"calculator": "training_memory", "inputs": RUN | inputs, "language": language, "view": True}
    response = api.answer(request)
    return response["outputs"], response["view"]["pictures"]


def test_the_bar_is_the_fullest_phase_and_its_parts_add_up():
    outputs, pictures = asked()
    (stack,) = pictures["budget"]["stacks"]
    assert stack["id"] == outputs["peak_phase"]
    assert sum(part["value"] for part in stack["parts"]) == pytest.approx(stack["value"])
    assert {part["id"] for part in stack["parts"]} == set(outputs["phases"][0]["parts"])


@pytest.mark.parametrize("steps, phases", [(1, ONE), (2, ONE | {"later_forward", "later_backward"})])
def test_every_phase_has_its_column(steps, phases):
    outputs, pictures = asked(accumulation_steps=steps)
    assert {stack["id"] for stack in pictures["phases"]["stacks"]} == phases
    assert pictures["phases"]["peak"] == outputs["peak_phase"]
    assert [stack["id"] for stack in pictures["phases"]["stacks"]] == [phase["phase"] for phase in outputs["phases"]]


@pytest.mark.parametrize("name", ["budget", "phases"])
@pytest.mark.parametrize(
    "inputs, label, text",
    [
        ({"gpu": "RTX 4090"}, "RTX 4090", "24 GiB"),
        ({"gpu": "RTX 4090", "memory_budget": "2 MiB"}, "Memory budget", "2 MiB"),
    ],
)
def test_the_line_is_the_memory_there_is(name, inputs, label, text):
    picture = asked(**inputs)[1][name]
    assert (picture["limit"]["label"], picture["limit"]["text"]) == (label, text)
    assert text in picture["summary"]
    assert label in picture["summary"]
    assert asked()[1][name]["limit"] is None


def test_pictures_speak_the_reader_s_language():
    english, arabic = (asked(language)[1]["phases"] for language in ("en", "ar"))
    assert english["summary"] != arabic["summary"]
    assert [stack["value"] for stack in english["stacks"]] == [stack["value"] for stack in arabic["stacks"]]


def test_every_picture_that_a_calculator_names_can_be_drawn_and_none_is_left_over():
    assert {name for calculator in CALCULATORS.values() for name in calculator.pictures} == set(PICTURES)
