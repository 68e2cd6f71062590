"""The benchmark on the CPU, with one rank and with two: every claim is judged, and a claim broken on purpose turns red."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import benchmark
from bench import results
from bench.claims import CLAIMS
from bench.on_device import devices, memory, peaks, runner, speed
from bench.on_device.bench import Bench
from bench.on_device.models import llama_config

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "scripts" / "benchmark.py")
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
TOGETHER = [name for name, claim in CLAIMS.items() if claim.ranks > 1]
ALONE = [name for name in CLAIMS if name not in TOGETHER]


def start(folder, *options, ranks=1, **more):
    command = [sys.executable, *(TORCHRUN if ranks > 1 else ()), SCRIPT, "--device", "cpu", "--folder", str(folder), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def finish(folder, *options, ranks=1):
    process = start(folder, *options, ranks=ranks)
    output, errors = process.communicate()
    (document,) = results.load(folder)
    return process.returncode, document, output + errors


def verdicts(document):
    return {name: entry["verdict"] for name, entry in document["claims"].items()}


def judged(bench, name):
    found = {}
    stopped = runner.measure(bench, name, found)
    return CLAIMS[name].judge(found, "cpu"), found, stopped


@pytest.fixture(scope="module")
def cpu():
    return Bench(devices.Cpu(), "cpu")


def test_one_rank_judges_what_one_rank_can(tmp_path):
    status, document, said = finish(tmp_path)
    assert status == 0, said
    assert verdicts(document) == {name: "holds" if name in ALONE else "not_measured" for name in CLAIMS}
    assert {document["claims"][name]["stopped"]["reason"] for name in TOGETHER} == {"ranks"}
    (name,) = (path.name for path in tmp_path.glob("*.json"))
    assert results.faults(document, name) == []
    assert len(list(tmp_path.glob("*.svg"))) == 4
    assert len(document["claims"]["predicted_peaks"]["measured"]["rows"]) >= 6


def test_two_ranks_judge_the_rest(tmp_path):
    status, document, said = finish(tmp_path, "--only", *TOGETHER, ranks=2)
    assert status == 0, said
    assert verdicts(document) == dict.fromkeys(TOGETHER, "holds")
    assert (document["ranks"], document["nodes"], document["backend"]) == (2, 1, "gloo")


def test_every_claim_has_its_measurement():
    assert list(runner.MEASUREMENTS) == list(CLAIMS)


BROKEN = {
    "division": ("gradient_fp64", "gradient_fp32", "gradient_bf16", "optimizer_update", "token_counts"),
    "clearing": ("gradient_fp64", "gradient_fp32", "gradient_bf16", "optimizer_update", "clipping"),
    "summing": ("flat_peak", "one_buffer"),
}


@pytest.mark.parametrize(("broken", "name"), [(broken, name) for broken, names in BROKEN.items() for name in names])
def test_a_claim_broken_on_purpose_fails(broken, name, monkeypatch):
    monkeypatch.setattr(memory, "STEPS", (2, 4))
    verdict, _, stopped = judged(Bench(devices.Cpu(), "cpu", broken), name)
    assert (verdict, stopped) == ("fails", None)


@pytest.mark.parametrize(("broken", "name"), [("no_sync", "one_all_reduce"), ("division", "effective_batch")])
def test_a_claim_about_ranks_broken_on_purpose_fails(broken, name, tmp_path):
    status, document, _ = finish(tmp_path, "--break", broken, "--only", name, ranks=2)
    assert (status, verdicts(document)) == (1, {name: "fails"})
    assert document["settings"]["broken"] == broken


def test_a_device_that_is_too_small_is_reported_with_what_was_reached(cpu, tmp_path):
    whole = judged(cpu, "affine_in_b")[1]["points"]
    limit = f"{whole[3]['peak'] - 1} B"
    status, document, said = finish(tmp_path, "--memory-limit", limit, "--only", "affine_in_b", "one_buffer", "gradient_fp64")
    claims = document["claims"]
    assert (status, document["state"]) == (0, "complete"), said
    assert claims["affine_in_b"]["measured"]["points"] == whole[:3]
    assert (claims["affine_in_b"]["verdict"], claims["affine_in_b"]["stopped"]["reason"]) == ("holds", "out_of_memory")
    assert claims["one_buffer"]["verdict"] == "not_measured"
    assert "bytes live" in claims["one_buffer"]["stopped"]["message"]
    assert claims["gradient_fp64"]["verdict"] == "holds"


def test_one_configuration_that_does_not_fit_leaves_the_others(cpu):
    whole = judged(cpu, "predicted_peaks")[1]["rows"]
    limit = sorted(row["peak"] for row in whole)[2] + 1
    rows = judged(Bench(devices.Cpu(limit), "cpu"), "predicted_peaks")[1]["rows"]
    assert [("peak" in row, "out_of_memory" in row) for row in rows] == [
        (row["peak"] <= limit, row["peak"] > limit) for row in whole
    ]


def test_times_are_taken_of_the_sizes_that_fit(cpu, monkeypatch):
    def accumulate(_, batches, *__):
        if len(batches[0]["input_ids"]) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(speed, "accumulate", accumulate)
    _, found, stopped = judged(cpu, "throughput")
    assert [point["micro_batch"] for point in found["points"]] == [1, 2, 4]
    assert stopped == {"reason": "out_of_memory", "message": "CUDA out of memory"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_it_measured_and_says_so(number, tmp_path):
    process = start(tmp_path, "--only", "gradient_fp64", "flat_peak")
    while not (files := list(tmp_path.glob("*.json"))):
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, number)
    output, _ = process.communicate()
    document = json.loads(files[0].read_text())
    assert (process.returncode, document["state"]) == (130, "interrupted")
    assert verdicts(document)["gradient_fp64"] == "holds"
    assert document["claims"]["flat_peak"]["stopped"]["reason"] == "interrupted"
    assert "This run was interrupted" in output


@pytest.mark.parametrize(
    ("error", "stopped"),
    [
        (ModuleNotFoundError("No module named 'peft'", name="peft"), {"reason": "package", "message": "peft"}),
        (ValueError("one thing\nand another"), {"reason": "error", "message": "ValueError: one thing"}),
    ],
)
def test_what_one_claim_meets_is_written_down(error, stopped, cpu, monkeypatch, capsys):
    def measurement(*_):
        raise error

    monkeypatch.setitem(runner.MEASUREMENTS, "clipping", measurement)
    notes = []
    runner.run(cpu, ["clipping", "gradient_fp64"], lambda *note: notes.append(note))
    assert [(name, why) for name, _, why in notes] == [("clipping", stopped), ("gradient_fp64", None)]
    assert ("ValueError" in capsys.readouterr().err) is isinstance(error, ValueError)


def test_without_pytorch_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(sys, "argv", ["benchmark.py"])
    with pytest.raises(SystemExit, match="pip install torch"):
        benchmark.main()


@pytest.mark.parametrize("text", ["8", "8 apples", "-1GB"])
def test_a_limit_that_is_no_size_is_refused(text, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmark.py", "--memory-limit", text])
    with pytest.raises(SystemExit, match="2"):
        benchmark.parse()
    assert "--memory-limit" in capsys.readouterr().err


# The GPU's side, without a GPU: its configurations on a CPU, and its device on a stand-in for torch.cuda.


def test_the_configurations_of_a_gpu_run_on_a_cpu():
    _, found, stopped = judged(Bench(devices.Cpu(), "cuda"), "predicted_peaks")
    assert stopped is None
    rows = {row["name"]: row for row in found["rows"]}
    assert list(rows) == [configuration.name for configuration in peaks.CONFIGURATIONS["cuda"]]
    for row in rows.values():
        assert [phase["phase"] for phase in row["phases"]] == [
            "first_forward", "first_backward", "later_forward", "later_backward", "optimizer_step",
        ]  # fmt: skip
        assert row["peak"] == max(phase["peak"] for phase in row["phases"]) > 0
    assert rows["bf16"]["kernel"] == "flash"
    assert rows["bf16-eager"]["kernel"] == "unfused"
    assert rows["bf16-checkpointing"]["kernel"] is None


def test_the_large_model_is_one_the_calculator_knows():
    for configuration in peaks.CONFIGURATIONS["cuda"]:
        config = llama_config("cuda", **configuration.model)
        assert peaks.prediction(config, 1024, 4, **configuration.inputs())["peak"] > 2**30


class FakeAllocator:
    """Stands in for torch.cuda: an allocator whose numbers a test sets."""

    def __init__(self):
        self.live = self.peak = 1000
        self.reserved, self.fraction, self.synchronized = 4096, None, 0

    def set_per_process_memory_fraction(self, fraction, _):
        self.fraction = fraction

    def synchronize(self, _):
        self.synchronized += 1

    def reset_peak_memory_stats(self, _):
        self.peak = self.live


@pytest.fixture
def gpu(monkeypatch):
    fake = FakeAllocator()
    properties = SimpleNamespace(name="Some GPU 24GB", total_memory=24 * 2**30, major=9, minor=0)
    stand_ins = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "set_device": lambda _: None,
        "empty_cache": lambda: None,
        "get_device_properties": lambda _: properties,
        "memory_allocated": lambda _: fake.live,
        "max_memory_allocated": lambda _: fake.peak,
        "max_memory_reserved": lambda _: fake.reserved,
        "set_per_process_memory_fraction": fake.set_per_process_memory_fraction,
        "synchronize": fake.synchronize,
        "reset_peak_memory_stats": fake.reset_peak_memory_stats,
    }
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)
    monkeypatch.setattr(devices.Cuda, "_warm_up", lambda _: None)
    return fake


def test_a_gpu_s_meter_counts_from_its_baseline(gpu):
    with devices.Cuda().meter() as meter:
        gpu.live, gpu.peak = 1300, 1500
        assert (meter.live, meter.peak, meter.reserved) == (300, 500, 4096)
        assert meter.restart() == 300
        assert (meter.live, meter.peak) == (300, 300)
    assert gpu.synchronized > 0


def test_a_gpu_is_described_and_can_be_made_smaller(gpu):
    device = devices.Cuda(limit=6 * 2**30)
    assert gpu.fraction == 0.25
    described = device.describe()
    assert (described["kind"], described["name"], described["memory"]) == ("cuda", "Some GPU 24GB", 24 * 2**30)
    assert results.slug(described["name"]) == "some-gpu-24gb"


@pytest.mark.usefixtures("gpu")
def test_a_rank_without_a_gpu_of_its_own_is_refused(monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    with pytest.raises(SystemExit, match="no GPU of its own"):
        devices.Cuda()


def test_without_a_gpu_it_says_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match="--device cpu"):
        devices.Cuda()
