import ast
import itertools
import json
import re

import pytest

from gradaccum import api, messages
from gradaccum.recipes import FRAMEWORKS, Run, files, template

SPLIT = {"effective_batch": 64, "micro_batch": 2, "replicas": 4}
TEMPLATES = sorted(
    path.name.removesuffix(".template") for path in template.files("gradaccum.recipes").joinpath("templates").iterdir()
)
INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def ask(language="en", **inputs):
    return json.loads(api.run(json.dumps({"calculator": "recipe", "inputs": inputs, "language": language})))


def recipe(**inputs):
    response = ask(**{**SPLIT, **inputs})
    assert response["ok"], response
    return {file["name"]: file["text"] for file in response["outputs"]["files"]}


def codes(**inputs):
    return [note["code"] for note in ask(**{**SPLIT, **inputs})["notes"]]


def shown(**inputs):
    return "\n".join(recipe(**inputs).values())


# What each framework calls the same things.
@pytest.mark.parametrize(
    "framework, inputs, lines",
    [
        ("pytorch", {}, ["micro_batch=2, accumulation_steps=8", "replica.no_sync()", "torchrun --nproc-per-node 4 train.py"]),
        ("pytorch", {"max_grad_norm": 0.5}, ["torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)"]),
        ("pytorch", {"precision": "bf16-mixed"}, ["torch.autocast(device.type, dtype=torch.bfloat16)"]),
        ("pytorch", {"precision": "fp16-mixed", "max_grad_norm": 1}, ["scaler.unscale_(optimizer)", "scaler.update()"]),
        ("pytorch", {"precision": "bf16"}, ["dtype=torch.bfloat16)", "logits = logits.float()"]),
        ("pytorch", {"precision": "fp32"}, ["dtype=torch.float32)"]),
        ("pytorch", {"checkpointing": "full"}, ["model.gradient_checkpointing_enable("]),
        ("pytorch", {"sharding": "zero1"}, ["ZeroRedundancyOptimizer(model.parameters()", "replica.no_sync()"]),
        ("pytorch", {"sharding": "zero2"}, ["fully_shard(model, reshard_after_forward=False)"]),
        ("pytorch", {"sharding": "zero3"}, ["fully_shard(model, reshard_after_forward=True)"]),
        ("trainer", {}, ["per_device_train_batch_size=2", "gradient_accumulation_steps=8"]),
        ("trainer", {"max_grad_norm": 1}, ["max_grad_norm=1.0"]),
        ("trainer", {"precision": "bf16-mixed"}, ["bf16=True", "dtype=torch.float32"]),
        ("trainer", {"precision": "fp16-mixed"}, ["fp16=True"]),
        ("trainer", {"precision": "bf16-autocast"}, ["bf16=True", "dtype=torch.bfloat16"]),
        ("trainer", {"checkpointing": "full"}, ["gradient_checkpointing=True"]),
        ("trainer", {"sharding": "zero3"}, ['deepspeed="ds_config.json"', '"stage": 3', '"gradient_accumulation_steps": "auto"']),
        ("accelerate", {}, ["Accelerator(gradient_accumulation_steps=8)", "accelerate launch --num_processes 4 train.py"]),
        ("accelerate", {"precision": "fp16-mixed"}, ['gradient_accumulation_steps=8, mixed_precision="fp16"']),
        ("accelerate", {"max_grad_norm": 1}, ["accelerator.clip_grad_norm_(model.parameters(), 1.0)"]),
        ("accelerate", {"sharding": "zero2", "max_grad_norm": 1}, ["zero_stage=2", "gradient_clipping=1.0"]),
        ("lightning", {}, ["accumulate_grad_batches=8", "devices=4", 'strategy="ddp"']),
        ("lightning", {"precision": "bf16"}, ['precision="bf16-true"']),
        ("lightning", {"precision": "fp16-mixed", "max_grad_norm": 2}, ['precision="16-mixed"', "gradient_clip_val=2.0"]),
        ("lightning", {"sharding": "zero3"}, ["ModelParallelStrategy(data_parallel_size=4"]),
        (
            "deepspeed",
            {"max_grad_norm": 1, "sharding": "zero2", "precision": "bf16-mixed"},
            [
                '"train_batch_size": 64',
                '"train_micro_batch_size_per_gpu": 2',
                '"gradient_accumulation_steps": 8',
                '"gradient_clipping": 1.0',
                '"bf16": {"enabled": true}',
                '"grad_accum_dtype": "fp32"',
                '"stage": 2',
                "deepspeed --num_gpus 4 train.py",
            ],
        ),
        ("deepspeed", {"precision": "fp16-mixed"}, ['"fp16": {"enabled": true}', '"stage": 0']),
        # Stage 0 of the bf16 mode keeps no fp32 copy and refuses an fp32 gradient buffer; autocast needs neither.
        ("deepspeed", {"precision": "bf16-mixed"}, ['"torch_autocast": {"enabled": true, "dtype": "bfloat16"}', '"stage": 0']),
        ("fsdp2", {}, ["reshard_after_forward=True", "loss * replicas / targets"]),
        ("fsdp2", {"precision": "bf16-mixed"}, ["param_dtype=torch.bfloat16, reduce_dtype=torch.float32"]),
        ("fsdp2", {"precision": "bf16-autocast"}, ["torch.autocast(device.type, dtype=torch.bfloat16)"]),
        ("torchtune", {}, ["batch_size: 2", "gradient_accumulation_steps: 8", "clip_grad_norm: null", "full_finetune_distributed"]),
        ("torchtune", {"max_grad_norm": 1, "precision": "bf16"}, ["clip_grad_norm: 1.0", "dtype: bf16"]),
        ("torchtune", {"sharding": "zero2", "checkpointing": "full"}, ["fsdp_reshard_after_forward: False", "activation_checkpointing: True"]),
        ("keras", {"max_grad_norm": 1}, ["micro_batch=8, gradient_accumulation_steps=8", "global_clipnorm=1.0", "DataParallel()"]),
        ("keras", {"precision": "fp16-mixed"}, ['set_dtype_policy("mixed_float16")']),
        ("keras", {"checkpointing": "full"}, ['keras.RematScope(mode="full")']),
        ("optax", {"max_grad_norm": 1}, ["optax.MultiSteps(inner", "accumulation_steps=8", "optax.clip_by_global_norm(1.0)"]),
        ("optax", {"precision": "bf16", "checkpointing": "full"}, ["jnp.bfloat16", "jax.checkpoint(apply)"]),
    ],
)  # fmt: skip
def test_settings_have_the_names_of_the_framework(framework, inputs, lines):
    text = shown(framework=framework, **inputs)
    assert [line for line in lines if line not in text] == []


@pytest.mark.parametrize(
    "framework, inputs, absent",
    [
        ("pytorch", {"replicas": 1}, ["no_sync", "dist.", "launch"]),
        ("pytorch", {}, ["clip", "autocast", "checkpointing", "GradScaler", "dtype"]),
        ("trainer", {}, ["bf16", "fp16", "max_grad_norm", "gradient_checkpointing", "deepspeed"]),
        ("fsdp2", {}, ["no_sync", "set_requires_gradient_sync"]),
        ("lightning", {"replicas": 1}, ["strategy="]),
        ("deepspeed", {}, ["gradient_clipping", "bf16", "fp16"]),
        ("torchtune", {"replicas": 1}, ["distributed", "fsdp"]),
        ("keras", {"replicas": 1}, ["DataParallel", "KERAS_BACKEND"]),
        ("optax", {"replicas": 1}, ["mesh"]),
    ],
)
def test_a_recipe_holds_nothing_that_was_not_asked_for(framework, inputs, absent):
    text = shown(framework=framework, **inputs)
    assert [word for word in absent if word in text] == []


COMBINATIONS = [
    (framework, precision, stage, replicas, norm, recompute)
    for framework in FRAMEWORKS.values()
    for precision in (None, *framework.precisions)
    for stage in (None, *framework.sharding)
    for replicas, norm, recompute in itertools.product((1, 2), (None, 1.0), ("none", "full"))
]


@pytest.mark.cpython_only
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_combination_is_well_formed(language):
    import yaml  # noqa: PLC0415 - Pyodide has none

    readers = {"python": ast.parse, "json": json.loads, "yaml": yaml.safe_load, "sh": lambda text: text}
    for framework, precision, stage, replicas, norm, recompute in COMBINATIONS:
        run = Run(16 * replicas, 2, 8, replicas, precision, recompute, stage, norm)
        for file in files(framework, run, language):
            assert readers[file.language](file.text), file
            assert not INVISIBLE.search(file.text)
            assert not re.search(r"\{\{|\[\[|^%", file.text, re.MULTILINE)


def test_code_is_the_same_in_both_languages():
    def code(language):
        text = ask(language, framework="pytorch", max_grad_norm=1, **SPLIT)["outputs"]["files"][0]["text"]
        return [line for line in text.splitlines() if not line.lstrip().startswith("#")]

    assert code("en") == code("ar")
    assert len(code("en")) > 50


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_closes_what_it_opens(name):
    words = [line.split()[0] for line in template.source(name).splitlines() if line.startswith("%")]
    assert words.count("%if") == words.count("%end")


def test_every_comment_of_the_messages_stands_in_a_template():
    written = {key for name in TEMPLATES for key in re.findall(r"# \[\[(\w+)\]\]", template.source(name))}
    assert written == {key.removeprefix("recipe.") for key in messages.catalogue("en") if key.startswith("recipe.")}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_notes_say_what_every_framework_does(framework, language):
    response = ask(language, framework=framework, **SPLIT)
    said = {note["code"]: note["message"] for note in response["notes"]}
    assert {f"{framework}_{what}" for what in ("divides", "reduces", "last_window", "counts")} <= set(said)
    assert FRAMEWORKS[framework].version in said[f"{framework}_divides"]


@pytest.mark.parametrize(
    "inputs, expected, absent",
    [
        ({"framework": "trainer"}, ["trainer_clips_at_one"], ["read_in_source"]),
        ({"framework": "trainer", "max_grad_norm": 2}, [], ["trainer_clips_at_one"]),
        ({"framework": "trainer", "sharding": "zero2"}, ["zero_reduces_every_time", "read_in_source"], []),
        ({"framework": "accelerate", "sharding": "zero1"}, ["read_in_source"], ["zero_reduces_every_time"]),
        (
            {"framework": "deepspeed", "precision": "bf16", "sharding": "zero1"},
            ["deepspeed_master_weights"],
            ["half_gradient_buffer"],
        ),
        ({"framework": "deepspeed", "precision": "bf16"}, ["half_gradient_buffer"], ["deepspeed_master_weights"]),
        ({"framework": "pytorch", "precision": "bf16"}, ["half_gradient_buffer"], ["deepspeed_master_weights"]),
        ({"framework": "pytorch", "sharding": "zero3"}, ["fsdp2_reduces"], ["pytorch_reduces"]),
        ({"framework": "deepspeed"}, ["deepspeed_clips_at_one"], ["trainer_clips_at_one"]),
        ({"framework": "deepspeed", "max_grad_norm": 1}, [], ["deepspeed_clips_at_one"]),
        ({"framework": "keras"}, ["replicas_in_one_batch"], []),
        ({"framework": "optax", "replicas": 1}, [], ["replicas_in_one_batch"]),
        ({"framework": "pytorch", "micro_batch": 16}, ["no_accumulation"], []),
    ],
)
def test_notes_follow_the_settings(inputs, expected, absent):
    found = codes(**inputs)
    assert set(expected) <= set(found)
    assert set(absent).isdisjoint(found)


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize(
    "inputs, field, code",
    [
        ({"framework": "pytorh"}, "framework", "unknown_value"),
        ({"framework": None}, "framework", "missing"),
        ({"framework": "keras", "sharding": "zero1"}, "sharding", "unknown_value"),
        ({"framework": "fsdp2", "sharding": "none"}, "sharding", "unknown_value"),
        ({"framework": "optax", "precision": "fp16-mixed"}, "precision", "unknown_value"),
        ({"framework": "trainer", "replicas": 7}, "effective_batch", "not_divisible"),
        ({"framework": "trainer", "accumulation_steps": 3}, "effective_batch", "inconsistent"),
        ({"framework": "trainer", "max_grad_norm": 0}, "max_grad_norm", "not_positive"),
    ],
)
def test_faults(language, inputs, field, code):
    response = ask(language, **{**SPLIT, **inputs})
    assert [(error["field"], error["code"]) for error in response["errors"]] == [(field, code)]
    assert all(error["message"] and error["hint"] for error in response["errors"])


def test_the_result_as_text_holds_the_files():
    request = {"calculator": "recipe", "inputs": {"framework": "trainer", **SPLIT}, "view": True}
    view = api.answer(request)["view"]
    assert "gradient_accumulation_steps=8" in view["text"]
    assert view["outputs"][-1]["text"] == "train.py, launch.sh"
