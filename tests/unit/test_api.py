import json

import pytest

from gradaccum import api
from gradaccum.calculators import FORMS

DEFAULTS = {"micro_batch": 4, "accumulation_steps": 8, "activation_per_sample": "0.5 GB"}


def ask(calculator, inputs, **more):
    return json.loads(api.run(json.dumps({"calculator": calculator, "inputs": inputs, **more})))


@pytest.mark.parametrize("replicas, batch", [(1, 32), (4, 128)])
def test_the_worked_example_of_the_front_page(replicas, batch):
    outputs = ask("accumulation", DEFAULTS | {"replicas": replicas})["outputs"]
    assert (outputs["effective_batch"], outputs["activation_memory"]) == (batch, 2_000_000_000)


def test_without_the_cost_of_a_sample_there_are_no_memory_outputs():
    assert ask("accumulation", {"micro_batch": 4, "accumulation_steps": 8})["outputs"] == {"effective_batch": 32, "replicas": 1}


def test_inputs_come_back_as_understood():
    inputs = ask("accumulation", {"micro_batch": "٤", "accumulation_steps": 8, "world_size": 64, "tensor_parallel": 8})[
        "inputs"
    ]
    assert inputs["micro_batch"] == 4
    assert inputs["replicas"] == 8
    assert inputs["pipeline_parallel"] == 1
    assert "sequence_length" not in inputs


def test_with_mean_of_means_and_an_empty_micro_batch():
    response = ask("loss_weights", {"tokens": [[8, 0]], "losses": [[3, None]]})
    assert response["outputs"]["token_weights"] == [[0.5, None]]
    assert [note["code"] for note in response["notes"]] == ["empty_micro_batch"]


@pytest.mark.parametrize(
    "calculator, inputs, codes",
    [
        ("accumulation", DEFAULTS | {"accumulation_steps": 1}, ["no_accumulation"]),
        ("accumulation", DEFAULTS | {"gpu": "RTX 3060 12GB"}, ["accumulation_makes_it_fit"]),
        ("accumulation", DEFAULTS | {"gpu": "RTX 4090"}, []),
        ("accumulation", DEFAULTS | {"gpu": "T4", "micro_batch": 40}, ["micro_batch_overflows"]),
        ("batch_split", {"effective_batch": 64, "micro_batch": 4}, ["replicas_counted_as_one"]),
        ("batch_split", {"effective_batch": 64, "micro_batch": 8, "replicas": 8}, ["no_accumulation"]),
        ("updates", {"dataset_size": 11, "micro_batch": 1, "accumulation_steps": 4}, ["last_window_step"]),
        ("updates", {"dataset_size": 11, "micro_batch": 1, "accumulation_steps": 4, "last_window": "drop"}, ["last_window_drop"]),
        ("updates", {"dataset_size": 11, "micro_batch": 1, "accumulation_steps": 4, "last_window": "carry"}, ["last_window_carry"]),
        ("updates", {"dataset_size": 3, "micro_batch": 1, "accumulation_steps": 4, "last_window": "drop"}, ["no_update"]),
        ("updates", {"dataset_size": 3, "micro_batch": 4, "accumulation_steps": 4, "drop_last": True}, ["no_update"]),
        ("updates", {"dataset_size": 8, "micro_batch": 4, "accumulation_steps": 2, "samples_per_prompt": 3}, ["prompt_group_divided"]),
        ("learning_rate", {"learning_rate": 1, "effective_batch": 2, "new_effective_batch": 2, "rule": "linear"}, ["same_batch"]),
        ("learning_rate", {"learning_rate": 1, "effective_batch": 4, "new_effective_batch": 2, "rule": "linear"}, ["rule_linear"]),
        (
            "learning_rate",
            {"learning_rate": 1, "effective_batch": 2, "new_effective_batch": 4, "rule": "square-root", "beta2": 0.5},
            ["rule_square-root", "beta2_half_life", "critical_batch"],
        ),
        (
            "learning_rate",
            {"learning_rate": 1, "effective_batch": 2, "new_effective_batch": 1, "rule": "none", "warmup_updates": 9, "total_updates": 8},
            ["rule_none", "warmup_longer_than_run"],
        ),
        ("loss_weights", {"tokens": [[5, 5]]}, ["equal_lengths"]),
        ("loss_weights", {"tokens": [[5, 6]]}, []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("language", ["ar", "en"])
def test_notes_warn_without_stopping_the_answer(calculator, inputs, codes, language):
    response = ask(calculator, inputs, language=language)
    assert response["ok"]
    assert [note["code"] for note in response["notes"]] == codes
    assert all(note["message"] for note in response["notes"])


@pytest.mark.parametrize(
    "request_, field, code",
    [
        (None, "request", "malformed"),
        ("", "request", "malformed"),
        ("[]", "request", "wrong_type"),
        ("7", "request", "wrong_type"),
        ("{}", "calculator", "missing"),
        ('{"calculator": 7}', "calculator", "wrong_type"),
        ('{"calculator": "acumulation"}', "calculator", "unknown_calculator"),
        ('{"calculator": "updates", "inputs": []}', "inputs", "wrong_type"),
        ('{"calculator": "updates", "input": {}}', "input", "unknown_field"),
        ('{"calculator": "updates", "language": "fr"}', "language", "unknown_value"),
        ('{"calculator": "updates", "language": []}', "language", "unknown_value"),
        ('{"calculator": "updates", "view": 1}', "view", "wrong_type"),
        ('{"calculator": "updates", "inputs": {"dataset_size": NaN}}', "dataset_size", "not_finite"),
        ('{"calculator": "updates", "inputs": {"dataset_size": 1e9999999999999999999999}}', "dataset_size", "too_large"),
        ('{"calculator": "updates", "inputs": {"dataset_size": 1e-9999999999999999999999}}', "dataset_size", "wrong_type"),
        ('{"calculator": "updates", "inputs": {"dataset_size": -Infinity}}', "dataset_size", "not_finite"),
    ],
)  # fmt: skip
def test_requests_that_are_refused(request_, field, code):
    response = json.loads(api.run(request_))
    assert not response["ok"]
    assert (field, code) in [(error["field"], error["code"]) for error in response["errors"]]
    assert all(error["message"] and error["hint"] for error in response["errors"])


def test_found_and_nearest_travel_to_the_caller_and_stand_in_the_words():
    split = {"effective_batch": 100, "micro_batch": 3, "replicas": 1}
    (error,) = ask("batch_split", split)["errors"]
    assert [entry["effective_batch"] for entry in error["nearest"]] == [99, 102]
    assert "99, 102" in error["hint"]
    (error,) = ask("batch_split", split | {"accumulation_steps": 4})["errors"]
    assert error["found"] == 12
    assert "12" in error["message"]


def test_a_value_in_an_arabic_sentence_keeps_its_direction():
    (error,) = ask("accumulation", DEFAULTS | {"micro_batch": "4x"}, language="ar")["errors"]
    assert "\u20684x\u2069" in error["message"]


def test_a_long_value_is_shortened_in_the_message():
    (error,) = ask("accumulation", DEFAULTS | {"micro_batch": "x" * 10_000})["errors"]
    assert len(error["message"]) < 200


@pytest.mark.parametrize("calculator", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("language", ["ar", "en"])
def test_the_starting_values_of_every_form_have_an_answer(calculator, language):
    inputs = {field.name: field.example for field in calculator.fields if field.example}
    response = ask(calculator.name, inputs, language=language, view=True)
    assert response["ok"], response
    declared = [output.name for output in calculator.outputs]
    assert set(response["outputs"]) <= set(declared)
    assert [output["name"] for output in response["view"]["outputs"]] == [n for n in declared if n in response["outputs"]]
    assert response["steps"]
