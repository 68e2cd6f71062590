"""Every recipe, run: the gradient of each window equals that of its samples taken at once, on sequences of unequal length."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from frameworks import ranks, running, tiny
from gradaccum.recipes import FRAMEWORKS

SCRIPTS = Path(__file__).parents[2] / "scripts"
# What frameworks warn their own users of is not this project's fault, and differs with every version.
pytestmark = pytest.mark.filterwarnings("default")

STEPS, MICRO_BATCH = 4, 2
SAMPLES = 11  # six micro-batches, the last of one sample: a full window and one of two micro-batches
TOLERANCE = 1e-6
QUIET = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
# Readers' settings that a test needs: nothing is written or printed, and the gradient is not clipped.
SETTINGS = {
    "trainer": {
        "output_dir": "output", "report_to": "none", "use_cpu": True, "save_strategy": "no", "disable_tqdm": True,
        "remove_unused_columns": False, "max_grad_norm": 0.0,
    },
    "lightning": {"accelerator": "cpu", **QUIET},
    "deepspeed": {"config": "RANK-ds_config.json"},
}  # fmt: skip
PACKAGES = {"pytorch": "torch", "fsdp2": "torch", "trainer": "transformers"}


def case(framework, replicas=1, **inputs):
    return {
        "inputs": {
            "framework": framework,
            "micro_batch": MICRO_BATCH,
            "accumulation_steps": STEPS,
            "replicas": replicas,
            **inputs,
        },
        "samples": SAMPLES * replicas,
        "settings": SETTINGS.get(framework, {}),
    }


def assert_every_window_is_whole(micro_batches, gradients, samples):
    """``micro_batches``: by rank, in order."""
    windows = -(-len(micro_batches[0]) // STEPS)
    assert len(gradients) == windows == 2, "a full window and one that is not make an update each"
    for index, gradient in enumerate(gradients):
        chosen = [samples[i] for rank in micro_batches for batch in rank[index * STEPS : (index + 1) * STEPS] for i in batch]
        expected = tiny.whole_batch_gradient(chosen)
        found = torch.as_tensor(gradient, dtype=torch.float64)
        assert found.shape == expected.shape
        assert float((found - expected).norm() / expected.norm()) < TOLERANCE


@pytest.mark.parametrize("framework", ["pytorch", "trainer", "accelerate", "lightning"])
def test_on_one_device(framework, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = case(framework)
    samples = tiny.samples(made["samples"])
    found = running.run_torch(made["inputs"], samples, **made["settings"])
    assert_every_window_is_whole([found["micro_batches"]], found["gradients"], samples)


ON_TWO = [
    case("pytorch", 2),
    case("pytorch", 2, sharding="zero1"),
    case("accelerate", 2),
    case("trainer", 2),
    case("fsdp2", 2),
    case("fsdp2", 2, sharding="zero2"),
    case("lightning", 2, sharding="zero3"),
]


@pytest.fixture(scope="module")
def on_two():
    return ranks.run(ON_TWO)


@pytest.mark.parametrize("index", range(len(ON_TWO)), ids=lambda i: "-".join(map(str, ON_TWO[i]["inputs"].values())))
def test_on_two_replicas(on_two, index):
    samples = tiny.samples(ON_TWO[index]["samples"])
    assert_every_window_is_whole(on_two[index]["micro_batches"], on_two[index]["gradients"], samples)


@pytest.mark.parametrize("stage", ["none", "zero1", "zero2", "zero3"])
def test_deepspeed_runs_on_one_device(deepspeed_seen, stage):
    found = deepspeed_seen[["none", "zero1", "zero2", "zero3"].index(stage)]
    assert_every_window_is_whole(found["micro_batches"], found["gradients"], tiny.samples(SAMPLES))


@pytest.fixture(scope="module")
def deepspeed_seen():
    # A limit never reached: without one DeepSpeed clips at a norm of 1.
    return ranks.run(
        [case("deepspeed", sharding=stage, max_grad_norm=10**6) for stage in ("none", "zero1", "zero2", "zero3")], replicas=1
    )


@pytest.fixture
def deepspeed_config(monkeypatch):
    monkeypatch.setenv("DS_ACCELERATOR", "cpu")
    module = pytest.importorskip("deepspeed.runtime.config")
    monkeypatch.setattr(module.dist, "get_rank", lambda *_: 0)
    monkeypatch.setattr(module.dist, "get_world_size", lambda *_: 4)
    return module.DeepSpeedConfig


@pytest.mark.parametrize("precision", [None, *FRAMEWORKS["deepspeed"].precisions])
@pytest.mark.parametrize("stage", FRAMEWORKS["deepspeed"].sharding)
def test_deepspeed_accepts_its_configuration(deepspeed_config, precision, stage):
    inputs = case("deepspeed", 4, sharding=stage, precision=precision, max_grad_norm=1)["inputs"]
    read = deepspeed_config(json.loads(running.files(**inputs)["ds_config.json"]))
    assert (read.train_batch_size, read.train_micro_batch_size_per_gpu, read.gradient_accumulation_steps) == (32, 2, 4)
    assert read.gradient_clipping == 1.0
    assert read.zero_config.stage == (0 if stage == "none" else int(stage[-1]))


def test_deepspeed_refuses_a_product_that_does_not_come_out(deepspeed_config):
    written = json.loads(running.files(**case("deepspeed", 4)["inputs"])["ds_config.json"])
    with pytest.raises(AssertionError, match="33 != 2"):
        deepspeed_config(written | {"train_batch_size": 33})


# JAX settles its devices when it is first used, so each number of them gets an interpreter.
@pytest.mark.parametrize("framework", ["optax", "keras"])
@pytest.mark.parametrize("replicas", [1, 2])
def test_on_jax(framework, replicas):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(SCRIPTS), *sys.path]),
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={replicas}",
    }
    command = [sys.executable, "-m", "frameworks.on_jax", framework, str(replicas)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    differences = json.loads(done.stdout.splitlines()[-1])
    assert len(differences) == 2
    assert max(differences) < TOLERANCE


@pytest.mark.parametrize("framework", sorted(FRAMEWORKS))
def test_the_version_named_is_the_version_run(framework):
    installed = importlib.metadata.version(PACKAGES.get(framework, framework))
    assert FRAMEWORKS[framework].version.split()[-1] == installed.partition("+")[0]


@pytest.fixture(scope="module")
def torchtune_found(tmp_path_factory):
    """What torchtune says of its recipe's file in every precision, clipped and not, and last of one with two wrong keys."""
    folder = tmp_path_factory.mktemp("torchtune")
    texts = [
        running.files(**case("torchtune", 2, precision=precision, **more)["inputs"])["config.yaml"]
        for precision in (None, *FRAMEWORKS["torchtune"].precisions)
        for more in ({}, {"max_grad_norm": 1, "sharding": "zero3", "checkpointing": "full"})
    ]
    texts.append(texts[0].replace("  lr: ", "  lrr: ").replace("shuffle:", "shufle:"))
    files = [folder / f"{number}.yaml" for number, _ in enumerate(texts)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    # peft refuses the torchao that torchtune imports, so that one lies in a folder apart.
    apart = str(Path(sys.prefix) / "torchtune")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SCRIPTS), apart, *sys.path])}
    command = [sys.executable, "-m", "frameworks.on_torchtune", *map(str, files)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(found) == len(files)
    return found


def test_torchtune_accepts_its_configuration_and_reads_all_of_it(torchtune_found):
    assert {json.dumps(one) for one in torchtune_found[:-1]} == {json.dumps({"refused": None, "unread": []})}


def test_torchtune_would_find_wrong_keys(torchtune_found):
    assert "lrr" in torchtune_found[-1]["refused"]
    assert torchtune_found[-1]["unread"] == ["shufle"]
