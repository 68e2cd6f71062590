"""The dry run against the tape, the recordings, real runs on the CPU, and models no family covers."""

import gc
import importlib
import itertools
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import torch

from gradaccum.activations import saved_bytes
from gradaccum.architecture import architecture
from gradaccum.dryrun import process
from gradaccum.families import FAMILIES
from gradaccum.setting import Setting
from gradaccum.torch import dry_run

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RECORDING = ROOT / "tests" / "oracle" / "recording"
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 264, "hidden_size": 64}
LLAMA |= {"intermediate_size": 176, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2}
PHASES = ("first_forward", "first_backward", "later_forward", "later_backward")
OWN = ("convnet", "unet", "encoder_decoder", "two_towers", "gan")


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "snippets"))


def outputs(source, **options):
    response = dry_run(source, **options)
    assert response["ok"], response
    return response["outputs"]


def refusal(source, **options):
    response = dry_run(source, **options)
    assert not response["ok"]
    [error] = response["errors"]
    return error


@pytest.fixture
def llama(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    return str(tmp_path / "config.json")


# Against the recording and the tape


def tiny(family):
    document = json.loads((RECORDING / f"{family}.json").read_text(encoding="utf-8"))
    return next(model for model in document["models"] if model["name"].startswith("tiny"))


CELLS = [
    ("llama", "bf16", "full", "flash", "none"),
    ("llama", "bf16-mixed", "lora", "sdpa", "full"),
    ("llama", "fp32", "full", "sdpa", "none"),
    ("gpt2", "bf16", "lora", "eager", "none"),
    ("qwen2", "bf16-autocast", "full", "sdpa", "none"),
    ("mistral", "bf16", "full", "sdpa", "full"),
    ("qwen3", "bf16-mixed", "full", "eager", "none"),
    ("gemma2", "bf16", "full", "eager", "none"),
    ("gemma3_text", "fp32", "lora", "sdpa", "none"),
    ("phi3", "bf16", "full", "sdpa", "none"),
    ("olmo2", "bf16-mixed", "full", "sdpa", "full"),
    ("granite", "bf16-mixed", "lora", "sdpa", "full"),
    ("gpt_neox", "bf16", "full", "sdpa", "none"),
    ("mixtral", "bf16", "full", "sdpa", "none"),
    ("qwen3_moe", "bf16", "full", "sdpa", "none"),
    ("bert", "bf16-mixed", "lora", "sdpa", "none"),
    ("vit", "bf16", "full", "sdpa", "none"),
]


def test_every_recorded_family_is_run():
    assert {family for family, *_ in CELLS} == {path.stem for path in RECORDING.glob("*.json")}


@pytest.mark.parametrize("family, precision, method, attention, checkpointing", CELLS)
def test_a_family_keeps_what_the_ledger_and_the_recording_say(family, precision, method, attention, checkpointing, tmp_path):
    model = tiny(family)
    switches = {"precision": precision, "attention": attention, "checkpointing": checkpointing}
    [cell] = [c for c in model["cells"] if {**switches, "method": method, "padded": False}.items() <= c.items()]
    point, recorded = list(cell["peaks"].items())[-1]
    b, s = map(int, point.split(","))
    config = {"model_type": family, "architectures": [model["model_class"]], **model["config"]}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    length = {} if family == "vit" else {"sequence_length": s}
    rank = {"rank": 16} if method == "lora" else {}
    found = outputs(str(tmp_path), micro_batch=b, accumulation_steps=2, **switches, **length, **rank)

    setting = Setting(**switches, padded=False, method=method, rank=16, targets="all-linear")
    arch = architecture({"model_type": family} | model["config"], FAMILIES)
    assert found["engine"] == "cuda"
    assert found["activations"] == saved_bytes(arch, setting, b, s)
    two, three = (saved_bytes(arch, setting, size, s) for size in (2, 3))
    assert found["activation_per_sample"] == three - two
    assert found["activation_constant"] == 3 * two - 2 * three
    first = {row["phase"]: row["peak"] - found["weights"] for row in found["phases"] if row["update"] == 1}
    assert [first[phase] for phase in PHASES] == [peak for _, peak, _ in recorded]
    states = next(row["peak"] for row in found["phases"] if row["update"] == 2 and row["phase"] == "optimizer_step")
    assert states - found["weights"] == sum(
        cell["adamw"]["foreach"][name] for name in ("grad_bytes", "state_bytes", "step2_extra")
    )


# Against real runs on the CPU


class ReallyKept:
    """Bytes that autograd holds in a real run: each storage once, parameters and buffers left out."""

    class Held:
        def __init__(self, ledger, tensor):
            self.tensor, self.ledger = tensor.detach(), ledger
            ledger.take(self.tensor.untyped_storage())

        def __del__(self):
            self.ledger.release(self.tensor.untyped_storage())

    def __init__(self, model):
        self.outside = {t.untyped_storage().data_ptr() for t in (*model.parameters(), *model.buffers())}
        self.holders, self.live, self.peak = Counter(), 0, 0

    def watching(self):
        return torch.autograd.graph.saved_tensors_hooks(lambda tensor: self.Held(self, tensor), lambda held: held.tensor)

    def take(self, storage):
        key = storage.data_ptr()
        if key not in self.outside:
            self.live += 0 if self.holders[key] else storage.nbytes()
            self.peak = max(self.peak, self.live)
            self.holders[key] += 1

    def release(self, storage):
        key = storage.data_ptr()
        if key not in self.outside:
            self.holders[key] -= 1
            self.live -= 0 if self.holders[key] else storage.nbytes()


def really_kept(module, function, micro_batch, **options):
    """The most that one micro-batch keeps in a real run, forward and backward."""
    model, batch, *step = getattr(importlib.import_module(module), function)(**options)
    kept = ReallyKept(model)
    inputs = batch(micro_batch)
    with kept.watching():
        found = step[0](model, inputs) if step else model(**inputs)["loss"]
        for loss in [found] if isinstance(found, torch.Tensor) else found:
            loss.backward()
            del loss
    del found
    gc.collect()
    assert kept.live == 0
    return kept.peak


def attention_on_cuda(function, micro_batch):
    """What memory-efficient attention on CUDA keeps beyond the CPU's kernel: a seed, an offset, and a copy of its output.

    The CPU lays the output out as the query is, so that nn.MultiheadAttention need not copy it; CUDA's kernel does not.
    """
    return 16 + 4 * micro_batch * 32 * 24 if function == "encoder_decoder" else 0


@pytest.mark.parametrize("function", OWN)
def test_a_model_no_family_covers_keeps_what_a_real_run_keeps(function):
    options = {"sequence_length": 32} if function == "encoder_decoder" else {}
    found = outputs(f"dry_run_models:{function}", micro_batch=4, accumulation_steps=3, **options)
    assert found["complete"]
    two, three, four = (
        really_kept("dry_run_models", function, size, **options) + attention_on_cuda(function, size) for size in (2, 3, 4)
    )
    assert found["activations"] == four
    assert found["activation_per_sample"] == three - two
    assert found["activation_constant"] == 3 * two - 2 * three
    assert found["affine"] == (function != "two_towers")


def test_the_module_of_the_page_keeps_what_a_real_run_keeps():
    found = outputs("my_model:build", micro_batch=2, accumulation_steps=2, sequence_length=64, optimizer="SGD")
    layers = 8
    assert found["activations"] - layers * 16 == really_kept("my_model", "build", 2, sequence_length=64)
    assert found["optimizer_states"] == 0


@pytest.mark.parametrize("function", OWN)
def test_the_meta_device_says_the_same_without_a_compiler(function):
    options = {"micro_batch": 3, "accumulation_steps": 2}
    here, there = (outputs(f"dry_run_models:{function}", device=device, **options) for device in ("cuda", "meta"))
    assert (here["engine"], there["engine"]) == ("cuda", "meta")
    for name in ("activations", "activation_per_sample", "phases", "plan", "peak", "modules", "optimizer_states"):
        assert here[name] == there[name], name


def test_the_page_shows_what_the_command_finds(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    recording = importlib.import_module("record_dry_run")
    again, shown = recording.run(), json.loads(recording.RECORDING.read_text(encoding="utf-8"))
    # Autocast frees its casts in the order of their addresses, so a few points between two peaks may differ.
    lines = [found["outputs"]["timeline"].pop("points") for found in (again, shown)]
    assert again == shown
    assert max(size for _, size in lines[0]) == max(size for _, size in lines[1]) == again["outputs"]["peak"]


# What the figures are


def test_parts_of_every_phase_are_its_peak_and_the_plan_is_the_steady_peak(llama):
    options = {"sequence_length": 40, "accumulation_steps": 3}
    found = outputs(llama, micro_batch=4, **options)
    for row in found["phases"]:
        assert sum(row["parts"].values()) == row["peak"]
        assert min(row["parts"].values()) >= 0
    assert [row["update"] for row in found["phases"]] == [1] * 5 + [2] * 5
    plan = found["plan"]
    for b in (2, 6, 9):
        again = outputs(llama, micro_batch=b, **options)["phases"]
        passes = max(row["peak"] for row in again if row["update"] == 2 and row["phase"] != "optimizer_step")
        assert plan["fixed_memory"] + b * plan["activation_per_sample"] == passes


@pytest.mark.parametrize("steps", [2, 5, 16])
def test_the_peak_does_not_know_how_many_accumulation_steps_there_are(llama, steps):
    two = outputs(llama, sequence_length=40, accumulation_steps=2)
    assert outputs(llama, sequence_length=40, accumulation_steps=steps)["peak"] == two["peak"]


def test_one_to_two_accumulation_steps_add_a_gradient_buffer_to_the_passes(llama):
    one, two = (outputs(llama, sequence_length=40, accumulation_steps=a) for a in (1, 2))
    passes = [max(r["peak"] for r in found["phases"] if r["phase"] != "optimizer_step") for found in (one, two)]
    assert passes[1] - passes[0] == pytest.approx(one["gradients"], rel=0.5)
    assert passes[1] > passes[0]


def test_the_timeline_reaches_the_peak_and_its_phases_follow_each_other(llama):
    found = outputs(llama, sequence_length=40, accumulation_steps=3)
    assert max(size for _, size in found["timeline"]["points"]) == found["peak"]
    phases = found["timeline"]["phases"]
    assert len(phases) == 2 * (3 * 2 + 1)
    assert all(before["to"] <= after["from"] for before, after in itertools.pairwise(phases))


@pytest.mark.parametrize(
    "optimizer, states",
    [
        ("AdamW", 2),
        ("adam", 2),
        ("SGD", 0),
        ("sgd-momentum", 1),
        ("RMSprop", 1),
        ("Adagrad", 1),
        ("Adadelta", 2),
        ("Lion", None),
    ],
)
def test_any_optimizer_of_pytorch_steps(optimizer, states):
    if states is None:
        assert refusal("dry_run_models:convnet", optimizer=optimizer)["field"] == "optimizer"
        return
    found = outputs("dry_run_models:convnet", optimizer=optimizer)
    assert found["optimizer_states"] == states * found["gradients"]


def test_without_foreach_a_step_needs_less(llama):
    both = (outputs(llama, sequence_length=40, foreach=foreach)["phases"][-1]["peak"] for foreach in (True, False))
    foreach, single = both
    assert single < foreach


def test_an_optimizer_that_wants_a_closure_is_refused():
    assert "LBFGS" in refusal("dry_run_models:convnet", optimizer="lbfgs")["message"]


def test_fp16_autocast_keeps_what_bf16_autocast_keeps(llama):
    found = [outputs(llama, sequence_length=40, precision=f"{name}-mixed") for name in ("fp16", "bf16")]
    assert found[0]["activations"] == found[1]["activations"] > 0


def test_adapters_on_attention_alone(llama):
    found = outputs(llama, sequence_length=40, rank=4, targets="attention")
    assert found["trainable_parameters"] == 3 * 4 * (2 * (64 + 64) + 2 * (64 + 32))


# What is refused, and how


@pytest.mark.parametrize("device", ["cuda", "meta"])
@pytest.mark.parametrize(
    "function, words",
    [
        ("asks", ["dry_run_models.py:", "if x.sum() > 0"]),
        ("selects", ["dry_run_models.py:", "x[x[:, 0] > 0]", "nonzero"]),
        ("copies", ["dry_run_models.py:", ".cpu()"]),
        ("stumbles", ["dry_run_models.py:", "reshape(-1, 3)", "invalid for input"]),
    ],
)
def test_a_model_that_cannot_run_on_shapes_is_told_the_line(function, words, device):
    error = refusal(f"dry_run_models:{function}", device=device)
    assert error["code"] == "unsupported_model"
    assert [word for word in words if word not in error["message"]] == []
    assert error["hint"]


def test_the_line_is_told_in_arabic_too():
    error = refusal("dry_run_models:asks", language="ar")
    assert "السطر" in error["message"]
    assert "if x.sum() > 0" in error["message"]


@pytest.mark.parametrize(
    "source, options, field, words",
    [
        ("dry_run_models:nowhere", {}, "source", "nowhere"),
        ("no_such_module:build", {}, "source", "no_such_module"),
        ("no_such_file.json", {}, "source", "no_such_file.json"),
        ("dry_run_models:returns_nothing", {}, "source", "NoneType"),
        ("dry_run_models:no_loss", {}, "source", "Tensor"),
        ("dry_run_models:convnet", {"sequence_length": 8}, "sequence_length", "no sequence length"),
        ("dry_run_models:convnet", {"attention": "eager"}, "attention", "no such switch"),
        ("dry_run_models:convnet", {"checkpointing": "full"}, "checkpointing", "no such switch"),
        ("dry_run_models:convnet", {"rank": 4, "targets": ["nothing"]}, "targets", "nothing"),
    ],
)
def test_refusals_name_the_field(source, options, field, words):
    error = refusal(source, **options)
    assert error["field"] == field
    assert words in error["message"]
    assert error["hint"]


@pytest.mark.parametrize(
    "config, words",
    [
        ("{", "not JSON"),
        ('{"model_type": "no_such_type"}', "no_such_type"),
        ('{"model_type": "clip"}', "learns from"),
        (json.dumps(LLAMA), "Sequence length"),
    ],
)
def test_a_config_that_is_no_model_is_refused(config, words, tmp_path):
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    assert words in refusal(str(tmp_path))["message"]


def test_an_interrupted_run_keeps_what_it_reached_and_says_so():
    response = dry_run("dry_run_models:interrupts", accumulation_steps=2)
    found = response["outputs"]
    assert response["ok"]
    assert not found["complete"]
    assert "interrupted" in response["notes"][0]["message"]
    assert found["activation_per_sample"] > 0
    assert [row["phase"] for row in found["phases"]][:2] == ["first_forward", "first_backward"]
    assert "plan" not in found


def test_a_process_that_is_stopped_leaves_its_last_result(tmp_path, llama):
    result = tmp_path / "result.json"
    request = {"source": llama, "micro_batch": 1, "sequence_length": 40, "accumulation_steps": 2000, "optimizer": "SGD"}
    request |= {"foreach": True, "device": "auto", "checkpointing": "none", "result": str(result), "path": []}
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    running = subprocess.Popen(process.command(), stdin=subprocess.PIPE, text=True, env=environment)
    running.stdin.write(json.dumps(request))
    running.stdin.close()
    deadline = time.monotonic() + 300
    while not result.exists() or "peak" not in result.read_text(encoding="utf-8"):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
    running.kill()
    running.wait()
    left = json.loads(result.read_text(encoding="utf-8"))["outputs"]
    assert not left["complete"]
    assert left["peak"] > 0


def test_the_command_draws_and_prints(llama, tmp_path):
    picture = tmp_path / "out.svg"
    command = [sys.executable, "-m", "gradaccum", "dry-run", llama, "--sequence-length", "40", "--accumulation-steps", "2"]
    done = subprocess.run([*command, "--plot", str(picture)], capture_output=True, text=True, check=True)
    assert "later backward passes" in done.stdout
    assert picture.read_text(encoding="utf-8").count("<polyline") == 1
