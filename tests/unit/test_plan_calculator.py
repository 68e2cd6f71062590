import json

import pytest

from gradaccum import api
from gradaccum.messages import text

CONFIG = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 264}  # fmt: skip
MODEL = {"config": CONFIG, "sequence_length": 48, "effective_batch": 64, "memory_budget": "4 MiB"}
SIZES = {"effective_batch": 64, "activation_per_sample": "1 GiB", "fixed_memory": "8 GiB", "memory_budget": "24 GiB"}


def ask(inputs, **more):
    return json.loads(api.run(json.dumps({"calculator": "plan", "inputs": inputs} | more)))


def outputs(inputs, **more):
    response = ask(inputs, **more)
    assert response["ok"], response
    return response["outputs"]


def codes(response):
    return [note["code"] for note in response["notes"]]


def peak_of(plan, inputs):
    switches = {name: plan[name] for name in ("method", "optimizer", "checkpointing", "loss", "sharding")}
    known = {"config", "model", "sequence_length", "replicas", "precision", "rank"}
    run = {name: value for name, value in inputs.items() if name in known} | switches
    run |= {name: plan[name] for name in ("micro_batch", "accumulation_steps")}
    return json.loads(api.run(json.dumps({"calculator": "training_memory", "inputs": run})))["outputs"]["peak"]


@pytest.mark.parametrize(
    "inputs, first",
    [
        ({}, (16, 4)),
        ({"replicas": "٢"}, (16, 2)),
        ({"effective_batch": 8}, (8, 1)),
        ({"effective_batch": "٩٦"}, (16, 6)),
        ({"memory_budget": None, "gpu": "RTX 4090"}, (16, 4)),
        ({"memory_budget": "10 GiB", "gpu": "RTX 4090"}, (2, 32)),
        ({"world_size": 16, "tensor_parallel": 4, "pipeline_parallel": 2}, (16, 2)),
    ],
)
def test_sizes_alone(inputs, first):
    found = outputs(SIZES | inputs)
    assert found["verdict"] == "fits"
    plan = found["plans"][0]
    assert (plan["micro_batch"], plan["accumulation_steps"]) == first == (found["micro_batch"], found["accumulation_steps"])
    assert plan["peak"] == (8 + plan["micro_batch"]) * 2**30
    assert "checkpointing" not in plan


def test_every_plan_says_why_and_the_next_larger_what_it_lacks():
    found = outputs(SIZES | {"memory_budget": "11 GiB"})
    assert [plan["micro_batch"] for plan in found["plans"]] == [2, 1]
    assert found["plans"][0]["why"] == text("why.first", "en", used="66.7 %")
    assert found["plans"][1]["why"] == text("why.idle", "en", slower="33.3 %")
    assert found["overflowing"] == [{"micro_batch": 4, "peak": 12 * 2**30, "lack": 2**30, "relative_time": 1.25}]
    assert "overflowing" not in outputs(SIZES | {"effective_batch": 1})


def test_a_batch_that_does_not_divide_is_never_changed():
    response = ask(SIZES | {"effective_batch": 128, "replicas": 3})
    found = response["outputs"]
    assert found["verdict"] == "not_divisible"
    assert "plans" not in found
    assert [(s["effective_batch"], s["micro_batch"], s["accumulation_steps"], s["replicas"]) for s in found["nearest"]] == [
        (129, 1, 43, 3),
        (126, 14, 3, 3),
    ]
    assert codes(response) == ["plan_not_divisible"]
    assert [s["effective_batch"] for s in outputs(SIZES | {"effective_batch": 3, "replicas": 8})["nearest"]] == [8]
    tight = outputs(SIZES | {"effective_batch": 9, "replicas": 2, "memory_budget": "1 GiB"})
    assert [(s["micro_batch"], s["accumulation_steps"]) for s in tight["nearest"]] == [(1, 4), (1, 5)]


@pytest.mark.parametrize(
    "inputs, lack, note",
    [
        ({"memory_budget": "8.5 GiB"}, 2**29, "plan_sample_overflows"),
        ({"memory_budget": "8 GiB"}, 2**30, "plan_fixed_memory_overflows"),
    ],
)
def test_sizes_that_accumulation_cannot_help(inputs, lack, note):
    response = ask(SIZES | inputs)
    assert response["outputs"]["verdict"] == "accumulation_cannot_help"
    assert response["outputs"]["shortfall"] == lack
    assert response["outputs"]["overflowing"] == [{"micro_batch": 1, "peak": 9 * 2**30, "lack": lack, "relative_time": 2}]
    assert codes(response) == ["plan_cannot_help", note]


@pytest.mark.parametrize(
    "inputs, switches",
    [
        ({}, {"checkpointing": {"none", "full"}}),
        ({"checkpointing": "full"}, {"checkpointing": {"full"}}),
        ({"checkpointing": "none full", "loss": ["standard", "fused"]}, {"loss": {"standard", "fused"}}),
        ({"optimizer": "any"}, {"optimizer": {"adamw", "adamw-8bit"}}),
        ({"optimizer": "sgd"}, {"optimizer": {"sgd"}}),
        ({"sharding": "any"}, {"sharding": {"none"}}),
        ({"sharding": "zero1، zero2", "replicas": 4}, {"sharding": {"zero1", "zero2"}}),
        ({"method": ["lora", "full"]}, {"method": {"lora", "full"}}),
    ],
)
def test_plans_of_a_model(inputs, switches):
    inputs = MODEL | {"memory_budget": "16 MiB", "most_plans": 100} | inputs
    found = outputs(inputs)
    for plan in found["plans"]:
        assert plan["micro_batch"] * plan["accumulation_steps"] * inputs.get("replicas", 1) == 64 == plan["effective_batch"]
        assert plan["peak"] == peak_of(plan, inputs)
        assert plan["headroom"] == 2**24 - plan["peak"] >= 0
    assert {name: {plan[name] for plan in found["plans"]} for name in switches} == switches
    for row in found.get("overflowing", []):
        assert row["lack"] == row["peak"] - 2**24 > 0
    if all(len(switches.get(name, ())) < 2 for name in ("method", "optimizer")):
        times = [plan["relative_time"] for plan in found["plans"]]
        assert times == sorted(times)


def test_the_order_of_methods_is_the_readers():
    found = outputs(MODEL | {"method": "lora full", "most_plans": 100})
    methods = [plan["method"] for plan in found["plans"]]
    assert methods == sorted(methods, reverse=True)
    assert found["plans"][-1]["why"].startswith("Trains with Method set to full")
    assert "«الطريقة» بالخيار full" in "".join(
        c
        for c in outputs(MODEL | {"method": "lora full", "most_plans": 100}, language="ar")["plans"][-1]["why"]
        if c not in "\u2068\u2069"
    )


def test_reasons_name_what_is_slower():
    reasons = {
        "why.recomputation": {},
        "why.as_fast": {"loss": "any"},
        "why.reduction": {"sharding": "zero2 zero3", "replicas": 4},
        "why.optimizer": {"sharding": "zero1 none", "replicas": 4, "checkpointing": "none", "network_bandwidth": 1e30},
        "why.idle": {},
    }
    for reason, inputs in reasons.items():
        found = outputs(MODEL | {"memory_budget": "1 GiB", "most_plans": 100} | inputs)
        start = text(reason, "en", slower="|").split("|")[-1]
        assert any(plan["why"].endswith(start) for plan in found["plans"]), reason


def test_switches_that_were_not_allowed_are_tried_where_nothing_fits():
    response = ask(MODEL | {"memory_budget": "1400 kB", "checkpointing": "none"})
    found = response["outputs"]
    assert found["verdict"] == "accumulation_cannot_help"
    assert found["shortfall"] == found["smallest_peak"] - 1_400_000 > 0
    assert codes(response)[:2] == ["plan_cannot_help", "plan_would_fit"]
    for plan in found["helps"]:
        assert plan["peak"] == peak_of(plan, MODEL) <= 1_400_000
        assert plan["why"].startswith("Would fit with ")
    hopeless = ask(MODEL | {"memory_budget": "1 kB"})
    assert codes(hopeless)[:2] == ["plan_cannot_help", "plan_nothing_helps"]
    assert "helps" not in hopeless["outputs"]
    every = dict.fromkeys(("method", "optimizer", "checkpointing", "loss", "sharding"), "any")
    assert codes(ask(MODEL | {"memory_budget": "1 kB"} | every))[:2] == ["plan_cannot_help", "plan_nothing_helps"]


@pytest.mark.parametrize(
    "inputs, expected",
    [
        ({"model": "gpt2", "config": None, "activation_per_sample": "1 GB"}, ["model_over_sizes"]),
        ({"model": "gpt2"}, ["config_over_model"]),
        ({"world_size": 4, "tensor_parallel": 2}, ["parallel_degrees_not_in_memory"]),
        ({}, []),
    ],
)
def test_notes_of_a_model(inputs, expected):
    assert codes(ask(MODEL | {"gpu": "H200", "memory_budget": None} | inputs)) == [
        *expected,
        "costs_are_a_model",
        "traced_not_measured",
    ]


@pytest.mark.parametrize(
    "inputs, faults",
    [
        ({}, [("effective_batch", "missing"), ("model", "missing"), ("memory_budget", "missing")]),
        (SIZES | {"fixed_memory": None}, [("fixed_memory", "missing")]),
        (SIZES | {"activation_per_sample": None}, [("activation_per_sample", "missing")]),
        (SIZES | {"memory_budget": "24"}, [("memory_budget", "unit_missing")]),
        (SIZES | {"memory_budget": None}, [("memory_budget", "missing")]),
        (SIZES | {"gpu": "RTX 4091"}, [("gpu", "unknown_value")]),
        (SIZES | {"micro_batch": 4}, [("micro_batch", "unknown_field")]),
        (SIZES | {"world_size": 9, "tensor_parallel": 2}, [("world_size", "not_divisible")]),
        (SIZES | {"world_size": 8, "tensor_parallel": 2, "replicas": 8}, [("world_size", "inconsistent")]),
        (SIZES | {"checkpointing": []}, [("checkpointing", "wrong_type")]),
        (SIZES | {"checkpointing": 3}, [("checkpointing", "wrong_type")]),
        (SIZES | {"checkpointing": "none fill"}, [("checkpointing", "unknown_value")]),
        (SIZES | {"sharding": ["zero1", 2]}, [("sharding", "wrong_type")]),
        (MODEL | {"sequence_length": None}, [("sequence_length", "missing")]),
        (MODEL | {"config": {"model_type": "mamba"}}, [("config", "unsupported_model")]),
        (MODEL | {"method": "any", "targets": ["nothing"]}, [("targets", "unknown_value")]),
        (MODEL | {"attention": "flash", "precision": "fp32"}, [("attention", "unknown_value")]),
    ],
)
@pytest.mark.parametrize("language", ["en", "ar"])
def test_faults(inputs, faults, language):
    response = ask(inputs, language=language)
    assert [(error["field"], error["code"]) for error in response.get("errors", [])] == faults
    assert all(error["message"] and error["hint"] for error in response["errors"])


def test_what_is_understood_can_be_typed_again():
    response = ask(MODEL | {"checkpointing": ["Full", "none"], "loss": "fused,"}, view=True)
    assert response["inputs"]["checkpointing"] == ["full", "none"]
    assert response["inputs"]["loss"] == "fused"
    assert response["inputs"]["sharding"] == "none"
    assert response["view"]["inputs"]["checkpointing"] == "full none"
    assert "--checkpointing 'Full none'" in response["view"]["command"]
    assert ask(MODEL | {"checkpointing": "any none"})["inputs"]["checkpointing"] == "any"


def test_columns_that_are_the_same_in_every_line_are_left_out():
    shown = ask(MODEL | {"memory_budget": "1 GiB"}, view=True)["view"]["outputs"]
    columns = {output["name"]: output["table"]["columns"] for output in shown if output["table"]}
    assert text("column.checkpointing", "en") in columns["plans"]
    assert text("column.sharding", "en") not in columns["plans"]
    assert text("column.effective_batch", "en") not in columns["plans"]
    shown = ask(SIZES | {"effective_batch": 9, "replicas": 2}, view=True)["view"]
    (nearest,) = [output["table"]["columns"] for output in shown["outputs"] if output["table"]]
    assert text("column.effective_batch", "en") in nearest
    assert text("column.replicas", "en") not in nearest
    assert "\n  ".join(("", *nearest[:1])).strip() in shown["text"]


def test_a_large_plan_is_answered():
    for batch in (10**18, 999_999_999_999_999_989, 897_612_484_786_617_600):
        assert outputs(SIZES | {"effective_batch": batch})["verdict"] == "fits"


def drawn(inputs, language="en"):
    return ask(inputs, view=True, language=language)["view"]["pictures"].get("frontier")


def test_the_picture_holds_every_plan_and_the_line_between():
    inputs = MODEL | {"memory_budget": "16 MiB"}
    found, picture = outputs(inputs), drawn(inputs)
    assert picture["limit"]["value"] == 16
    assert [point["fits"] for point in picture["points"]] == [True] * len(found["plans"]) + [False] * len(found["overflowing"])
    assert all((point["value"] <= 16) == point["fits"] for point in picture["points"])
    assert picture["series"] == ["Activation checkpointing set to none", "Activation checkpointing set to full"]
    assert {point["series"] for point in picture["points"]} == {0, 1}
    assert drawn(inputs, "ar")["title"] != picture["title"]


def test_the_picture_of_sizes_and_of_what_does_not_fit():
    assert drawn(SIZES)["series"] == [text("picture.frontier.series", "en")]
    assert drawn(SIZES | {"memory_budget": None, "gpu": "RTX 4090"})["limit"]["label"] == "RTX 4090"
    assert [point["fits"] for point in drawn(SIZES | {"memory_budget": "8 GiB"})["points"]] == [False]
    helped = drawn(MODEL | {"memory_budget": "1400 kB", "checkpointing": "none"})
    assert [point["fits"] for point in helped["points"]][-1] is False
    assert drawn(SIZES | {"effective_batch": 3, "replicas": 2}) is None
    many = drawn(MODEL | {"memory_budget": "1 GiB", "loss": "any", "sharding": "any", "replicas": 2, "most_plans": 99})
    assert len(many["series"]) == 4


@pytest.mark.parametrize("framework", ["pytorch", "trainer", "lightning", "deepspeed", "torchtune", "keras"])
def test_the_first_plan_comes_as_a_recipe(framework):
    inputs = MODEL | {"memory_budget": "16 MiB", "replicas": 2, "recipe": framework, "checkpointing": "full"}
    response = ask(inputs, language="ar")
    found = response["outputs"]
    run = {"framework": framework, "effective_batch": 64, "replicas": 2, "precision": "bf16", "checkpointing": "full"}
    run |= {"micro_batch": found["micro_batch"], "sharding": "none"}
    alone = json.loads(api.run(json.dumps({"calculator": "recipe", "inputs": run, "language": "ar"})))
    assert found["files"] == alone["outputs"]["files"]
    spoken = [note for note in alone["notes"] if note["code"] != "no_accumulation"]
    assert response["notes"][-len(spoken) :] == spoken


def test_a_recipe_says_what_it_leaves_out_and_what_it_cannot_do():
    adapted = ask(MODEL | {"memory_budget": "16 MiB", "method": "lora", "loss": "fused", "recipe": "trainer"})
    assert {"recipe_leaves_to_you", "recipe_takes_adapters"} <= set(codes(adapted))
    assert "; Loss set to fused is for you" in " ".join(note["message"] for note in adapted["notes"])
    assert "get_peft_model" in adapted["outputs"]["files"][-1]["text"]
    without_peft = ask(MODEL | {"memory_budget": "16 MiB", "method": "lora", "loss": "fused", "recipe": "keras"})
    assert "Method set to lora and Loss set to fused" in " ".join(note["message"] for note in without_peft["notes"])
    assert "recipe_takes_adapters" not in codes(without_peft)
    assert "adapters.py" not in [file["name"] for file in without_peft["outputs"].get("files", [])]
    whole = ask(MODEL | {"memory_budget": "16 MiB", "recipe": "fsdp2"})
    assert "files" not in whole["outputs"]
    assert "recipe_cannot" in codes(whole)
    assert ask(SIZES | {"recipe": "lightning"})["outputs"]["files"][0]["name"] == "train.py"
    assert "files" not in outputs(SIZES | {"recipe": "lightning", "memory_budget": "1 GiB"})
    assert "files" not in outputs(SIZES)
