import json
import shlex

import pytest

from gradaccum import api, cli
from gradaccum.calculators import FORMS
from gradaccum.messages import choice_text
from gradaccum.view import field_words

DEFAULTS = {"micro_batch": "4", "accumulation_steps": 8, "activation_per_sample": "0.5 GB"}


def view(calculator, inputs, language="en"):
    return api.answer({"calculator": calculator, "inputs": inputs, "language": language, "view": True})["view"]


def shown(calculator, inputs, output):
    return next(o for o in view(calculator, inputs)["outputs"] if o["name"] == output)


@pytest.mark.parametrize(
    "cost, text, detail",
    [
        ("0.5 GB", "2 GB", "2,000,000,000 bytes = 1.86 GiB"),
        ("0.5 GiB", "2 GiB", "2,147,483,648 bytes = 2.15 GB"),
        (500_000_000, "2 GB", "2,000,000,000 bytes = 1.86 GiB"),
    ],
)
def test_sizes_are_shown_in_the_reader_s_own_units(cost, text, detail):
    output = shown("accumulation", DEFAULTS | {"activation_per_sample": cost}, "activation_memory")
    assert (output["text"], output["detail"]) == (text, detail)


UPDATES = {"dataset_size": 1000, "micro_batch": 1, "accumulation_steps": 8, "seconds_per_micro_batch": 1.5, "hourly_price": 2}


@pytest.mark.parametrize(
    "output, text, detail",
    [
        ("total_updates", "125", ""),
        ("seconds_per_window", "12 s", ""),
        ("total_seconds", "25 min", "1,500 s"),
        ("total_cost", "0.83", ""),
        ("last_window_gradient_scale", "1", ""),
    ],
)
def test_figures_of_each_kind(output, text, detail):
    found = shown("updates", UPDATES, output)
    assert (found["text"], found["detail"]) == (text, detail)


def test_a_table_has_a_line_per_replica():
    assert shown("loss_weights", {"tokens": "2 8; 0 5"}, "token_weights")["text"] == "1.875  0.4688\n-  0.75"


@pytest.mark.parametrize(
    "calculator, inputs, field, text",
    [
        ("accumulation", DEFAULTS, "micro_batch", "4"),
        ("accumulation", DEFAULTS, "activation_per_sample", "0.5 GB"),
        ("accumulation", DEFAULTS | {"world_size": 6, "tensor_parallel": 2}, "replicas", "3"),
        ("accumulation", DEFAULTS | {"gpu": "rtx 4090"}, "gpu", "RTX 4090"),
        ("updates", UPDATES, "seconds_per_micro_batch", "1.5"),
        ("updates", UPDATES, "drop_last", "false"),
        ("updates", UPDATES | {"drop_last": True}, "drop_last", "true"),
        ("loss_weights", {"tokens": "2 8; 0 5", "losses": "1 2; - 3"}, "losses", "1 2; - 3"),
    ],
)
def test_inputs_are_shown_as_they_could_be_typed(calculator, inputs, field, text):
    assert view(calculator, inputs)["inputs"][field] == text


@pytest.mark.parametrize(
    "calculator, inputs",
    [
        ("accumulation", DEFAULTS | {"gpu": "RTX 4090", "replicas": None, "sequence_length": ""}),
        ("accumulation", DEFAULTS | {"activation_per_sample": 2304, "micro_batch": 2.0}),
        ("updates", UPDATES | {"drop_last": True, "warmup_ratio": 0.03}),
        ("updates", UPDATES | {"drop_last": False}),
        (
            "learning_rate",
            {"learning_rate": "3e-4", "effective_batch": "512", "new_effective_batch": "128", "rule": "square-root"},
        ),
        ("loss_weights", {"tokens": [[2, 8], [0, 5]], "losses": [[4, 1], [None, 2]]}),
        ("batch_split", {"effective_batch": "١٢٨", "micro_batch": 2}),
    ],
)
def test_the_command_gives_the_same_answer(calculator, inputs, capsys):
    request = {"calculator": calculator, "inputs": inputs}
    command = view(calculator, inputs)["command"]
    assert cli.main([*shlex.split(command)[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(api.run(json.dumps(request)))


def test_the_text_result_holds_every_figure_and_note():
    found = view("accumulation", DEFAULTS | {"gpu": "RTX 3060 12GB"})
    assert all(output["text"] in found["text"] for output in found["outputs"])
    assert "RTX 3060 12GB" in found["text"]


def test_capacity_picture_compares_the_whole_batch_with_one_micro_batch():
    picture = view("accumulation", DEFAULTS | {"gpu": "RTX 4090"})["pictures"]["capacity"]
    assert [bar["value"] for bar in picture["bars"]] == [16, 2]
    assert picture["limit"] == {"label": "RTX 4090", "value": 25.769803776, "text": "24 GiB"}
    assert "24 GiB" in picture["summary"]
    assert view("accumulation", DEFAULTS)["pictures"]["capacity"]["limit"] is None


def test_window_picture_ends_where_the_weights_have_moved():
    picture = view("accumulation", DEFAULTS)["pictures"]["window"]
    assert picture["peak"]["text"] == "2 GB"
    assert max(max(s["activations"]) for s in picture["segments"]) == picture["peak"]["value"] == 2
    assert [s["line"] for s in picture["segments"]][-2:] == ["update", "zero_grad"]
    assert {s["line"] for s in picture["segments"]} == {"forward", "backward", "update", "zero_grad"}


@pytest.mark.parametrize(
    "calculator, inputs", [("accumulation", {"micro_batch": 4, "accumulation_steps": 8}), ("updates", UPDATES)]
)
def test_nothing_is_drawn_where_there_is_no_memory(calculator, inputs):
    assert view(calculator, inputs)["pictures"] == {}


@pytest.mark.parametrize("calculator", FORMS.values(), ids=FORMS)
def test_an_output_is_primary_and_field_names_are_unique(calculator):
    assert any(output.primary for output in calculator.outputs)
    assert len({field.name for field in calculator.fields}) == len(calculator.fields)


TINY = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 264}  # fmt: skip
RUN = {"config": TINY, "sequence_length": 48, "micro_batch": 2}


@pytest.mark.parametrize(
    "output, inputs, text",
    [
        ("fits", {"memory_budget": "1 GB"}, "yes"),
        ("fits", {"memory_budget": "1 KB"}, "no"),
        ("peak_phase", {}, "first backward pass"),
    ],
)
def test_flags_and_phases_in_words(output, inputs, text):
    assert shown("training_memory", RUN | inputs, output)["text"].casefold() == text


@pytest.mark.parametrize("budget, sign", [("1 KB", "−"), ("1 GB", "")])
def test_a_difference_has_a_sign(budget, sign):
    assert shown("training_memory", RUN | {"memory_budget": budget}, "headroom")["text"].startswith(
        sign + "9" if sign == "" else sign
    )


def test_lists_of_objects_are_tables_with_a_line_a_row():
    for name, calculator, inputs in (
        ("phases", "training_memory", RUN),
        ("ledger", "training_memory", RUN),
        ("by_module", "lora", {"config": TINY, "rank": 2}),
    ):
        found = shown(calculator, inputs, name)
        heads, *lines = found["text"].split("\n")
        assert heads.split() == " ".join(found["table"]["columns"]).split()
        assert len(lines) == len(found["table"]["rows"])
        assert (
            {len(row) for row in found["table"]["rows"]} == {len(found["table"]["columns"])} == {len(found["table"]["numeric"])}
        )


@pytest.mark.parametrize(
    "inputs, field, text",
    [
        ({}, "targets", "all-linear"),
        ({"targets": "q_proj v_proj"}, "targets", "q_proj v_proj"),
        ({}, "config", json.dumps(TINY)),
        ({}, "foreach", "true"),
        ({"foreach": False}, "foreach", "false"),
    ],
)
def test_objects_names_and_flags_as_typed(inputs, field, text):
    assert view("training_memory", RUN | inputs)["inputs"][field] == text


@pytest.mark.parametrize(
    "inputs, words",
    [
        ({"foreach": False}, ["--no-foreach"]),
        ({"foreach": "true", "padded": True}, ["--padded"]),
        ({"method": "lora", "targets": ["q_proj", "v_proj"]}, ["--targets", "q_proj v_proj"]),
        ({"zero_grad_to_none": False, "memory_budget": 10**9}, ["--no-zero-grad-to-none"]),
    ],
)
def test_the_command_of_a_budget_gives_the_same_answer(inputs, words, capsys):
    found = shlex.split(view("training_memory", RUN | inputs)["command"])
    assert [word for word in found if word in words] == words or set(words) <= set(found)
    assert cli.main([*found[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(
        api.run(json.dumps({"calculator": "training_memory", "inputs": RUN | inputs}))
    )


def test_a_choice_may_have_words_of_its_field_alone():
    assert choice_text("gpu", "RTX 4090", "en") == "RTX 4090"


@pytest.mark.parametrize(
    "form, field, label",
    [
        ("learning_rate", "learning_rate", "Learning rate of the recipe"),
        ("experiment.weight_decay", "learning_rate", "Learning rate"),
        ("experiment.weight_decay", "accumulation_steps", "Accumulation steps"),
    ],
)
def test_a_question_may_word_a_field_in_its_own_way(form, field, label):
    assert field_words(FORMS[form], FORMS[form].field(field), "label", "en") == label
