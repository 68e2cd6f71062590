import pytest

from gradaccum.calculators import CALCULATORS, Field
from gradaccum.errors import InputError
from gradaccum.validation import MOST_CELLS, nearest_name, read_field, understand

LOSS = CALCULATORS["loss_weights"]


def faults(calculator, inputs):
    return [(error.field, error.code) for error in understand(CALCULATORS[calculator], inputs)[1]]


@pytest.mark.parametrize(
    "calculator, inputs, expected",
    [
        ("accumulation", {}, [("micro_batch", "missing"), ("accumulation_steps", "missing")]),
        ("accumulation", {"micro_batch": None, "accumulation_steps": "  "}, [("micro_batch", "missing"), ("accumulation_steps", "missing")]),
        (
            "accumulation",
            {"micro_batch": 0, "acumulation_steps": 1, "activation_per_sample": "24"},
            [
                ("acumulation_steps", "unknown_field"),
                ("micro_batch", "not_positive"),
                ("accumulation_steps", "missing"),
                ("activation_per_sample", "unit_missing"),
            ],
        ),
        # A fault of its own keeps a field out of the rules between fields, other faults do not.
        ("accumulation", {"micro_batch": 0, "accumulation_steps": 1, "world_size": 3, "tensor_parallel": 2}, [("micro_batch", "not_positive"), ("world_size", "not_divisible")]),
        ("accumulation", {"micro_batch": 1, "accumulation_steps": 1, "world_size": 0, "tensor_parallel": 2}, [("world_size", "not_positive")]),
        ("accumulation", {"micro_batch": 1, "accumulation_steps": 1, "world_size": 8, "tensor_parallel": 2, "replicas": 2}, [("world_size", "inconsistent")]),
        ("accumulation", {"micro_batch": 1, "accumulation_steps": 1, "world_size": 8, "tensor_parallel": 2, "replicas": 4}, []),
        ("accumulation", {"micro_batch": 1, "accumulation_steps": 1, "gpu": "RTX 9999"}, [("gpu", "unknown_value")]),
        ("accumulation", {"micro_batch": 1, "accumulation_steps": 1, "gpu": 4090}, [("gpu", "wrong_type")]),
        ("batch_split", {"effective_batch": 64, "replicas": 8}, [("micro_batch", "missing"), ("accumulation_steps", "missing")]),
        ("batch_split", {"micro_batch": 0, "accumulation_steps": -3}, [("micro_batch", "not_positive"), ("accumulation_steps", "not_positive")]),
        ("updates", {"dataset_size": 1, "micro_batch": 1, "accumulation_steps": 1, "hourly_price": 2}, [("seconds_per_micro_batch", "missing")]),
        ("updates", {"dataset_size": 1, "micro_batch": 1, "accumulation_steps": 1, "warmup_ratio": 1.5}, [("warmup_ratio", "too_large")]),
        ("updates", {"dataset_size": 1, "micro_batch": 1, "accumulation_steps": 1, "drop_last": "maybe"}, [("drop_last", "wrong_type")]),
        ("updates", {"dataset_size": 1, "micro_batch": 1, "accumulation_steps": 1, "drop_last": 1}, [("drop_last", "wrong_type")]),
        ("learning_rate", {"learning_rate": 1, "effective_batch": 1, "new_effective_batch": 2}, [("rule", "missing")]),
        ("learning_rate", {"learning_rate": 1, "effective_batch": 1, "new_effective_batch": 2, "rule": "none", "beta2": 1}, [("beta2", "too_large")]),
        ("loss_weights", {"tokens": [[0, 0]]}, [("tokens", "not_positive")]),
        ("loss_weights", {"tokens": [[1, 2], [3]]}, [("tokens", "wrong_type")]),
        ("loss_weights", {"tokens": [[10, 6]], "losses": [[1.0]]}, [("losses", "wrong_type")]),
        ("loss_weights", {"tokens": [[10, 6]], "losses": [[1.0, None]]}, [("losses", "missing")]),
        ("loss_weights", {"tokens": [[10, 0]], "losses": [[1.0, None]]}, []),
        # A table at fault is not compared with the other one.
        ("loss_weights", {"tokens": [[1, 2], [3]], "losses": [[1.0]]}, [("tokens", "wrong_type")]),
    ],
)  # fmt: skip
def test_all_faults_are_reported_together(calculator, inputs, expected):
    assert faults(calculator, inputs) == expected


@pytest.mark.parametrize(
    "entered, table",
    [
        ([[1, "٢"]], [[1, 2]]),
        ("1 2", [[1, 2]]),
        ("1 2\n3 4", [[1, 2], [3, 4]]),
        ("1 2; 3 4;", [[1, 2], [3, 4]]),
        ("١ ٢؛ ٣ ٤", [[1, 2], [3, 4]]),
        ("1, 2,\n1,024, 4", [[1, 2], [1024, 4]]),
        ("١، ٢", [[1, 2]]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
    ],
)
def test_tables_are_lists_or_text(entered, table):
    assert read_field(LOSS.field("tokens"), entered) == table


def test_a_dash_is_a_micro_batch_without_loss():
    assert read_field(LOSS.field("losses"), "4 -; -1.5 0") == [[4, None], [-1.5, 0]]
    assert read_field(Field("n", "counts"), "1 2") == [[1, 2]]


@pytest.mark.parametrize(
    "entered, code",
    [
        (5, "wrong_type"),
        ([], "wrong_type"),
        ([[]], "wrong_type"),
        ([5], "wrong_type"),
        (";", "wrong_type"),
        ("[[1, 2]", "wrong_type"),
        ("[" * 5000, "wrong_type"),
        ([["two"]], "wrong_type"),
        ([[None]], "wrong_type"),
        ([[-1]], "not_positive"),
        ([[1] * (MOST_CELLS + 1)], "too_large"),
    ],
    ids=range(11),
)
def test_tables_that_are_refused(entered, code):
    with pytest.raises(InputError) as refused:
        read_field(LOSS.field("tokens"), entered)
    assert (refused.value.field, refused.value.code) == ("tokens", code)


@pytest.mark.parametrize("entered, value", [(True, True), (False, False), ("true", True), ("False", False)])
def test_flags(entered, value):
    assert read_field(Field("drop_last", "flag"), entered) is value


def test_names_are_matched_whatever_their_case():
    assert read_field(Field("gpu", "choice", choices=("RTX 4090",)), " rtx 4090 ") == "RTX 4090"


def test_a_budget_is_rounded_down():
    assert read_field(Field("memory_budget", "size", budget=True), "1.5 B") == 1
    assert read_field(Field("need", "size"), "1.5 B") == 2


@pytest.mark.parametrize(
    "name, near",
    [
        ("micro_bach", "micro_batch"),
        ("MICRO_BATCH", "micro_batch"),
        ("Rep", "replicas"),
        ("zzz", None),
        ("", None),
        ("m" * 10**6, None),
    ],
    ids=range(6),
)
def test_nearest_name(name, near):
    assert nearest_name(name, ["micro_batch", "replicas"]) == near


def test_defaults_are_filled_in_and_told_apart_from_what_was_given():
    values, errors = understand(CALCULATORS["updates"], {"dataset_size": 10, "micro_batch": 1, "accumulation_steps": 2})
    assert not errors
    assert (values["epochs"], values["drop_last"], values["last_window"]) == (1, False, "step")
    assert values.given == {"dataset_size", "micro_batch", "accumulation_steps"}
    assert "warmup_ratio" not in values


@pytest.mark.parametrize(
    "entered, names",
    [
        ("all-linear", "all-linear"),
        (" All-Linear ", "all-linear"),
        ("q_proj, v_proj", ["q_proj", "v_proj"]),
        ("q_proj،v_proj", ["q_proj", "v_proj"]),
        ("q_proj", ["q_proj"]),
        (["q_proj"], ["q_proj"]),
    ],
)
def test_names_as_people_type_them(entered, names):
    assert read_field(Field("targets", "names", choices=("all-linear",)), entered) == names


@pytest.mark.parametrize("entered", [3, [], [""], [1], ",", {"a": 1}])
def test_what_is_no_list_of_names(entered):
    with pytest.raises(InputError) as caught:
        read_field(Field("targets", "names", choices=("all-linear",)), entered)
    assert caught.value.code == "wrong_type"


@pytest.mark.parametrize(
    "entered, value", [({"a": 1}, {"a": 1}), ('{"a": [1]}', {"a": [1]}), ({"a": float("inf")}, {"a": "inf"})]
)
def test_objects_or_their_text(entered, value):
    assert read_field(Field("config", "object"), entered) == value


@pytest.mark.parametrize("entered, code", [("{", "malformed"), ("3", "wrong_type"), ([1], "wrong_type"), (3, "wrong_type")])
def test_what_is_no_object(entered, code):
    with pytest.raises(InputError) as caught:
        read_field(Field("config", "object"), entered)
    assert caught.value.code == code
