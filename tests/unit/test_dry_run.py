"""The dry run's outer half: what it asks, how it starts its process, what it says, what it draws. No torch is needed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gradaccum import api, cli, dryrun, jsontext
from gradaccum.dryrun import picture, process
from gradaccum.torch import dry_run

GIB = 2**30
PARTS = {"weights": GIB, "optimizer_states": 2 * GIB, "gradients": GIB, "activations": 3 * GIB, "temporaries": GIB}
PHASES = ("first_forward", "first_backward", "later_forward", "later_backward", "optimizer_step")
FOUND = {
    "complete": True,
    "engine": "cuda",
    "reason": None,
    "torch": "2.13.0",
    "parameters": 10,
    "trainable_parameters": 10,
    "weights": GIB,
    "gradients": GIB,
    "optimizer_states": 2 * GIB,
    "activation_per_sample": 3 * GIB,
    "activation_constant": -8,
    "affine": True,
    "activations": 3 * GIB,
    "phases": [{"update": 2, "phase": name, "peak": (8 - i) * GIB, "parts": PARTS} for i, name in enumerate(PHASES)],
    "peak": 8 * GIB,
    "peak_phase": "first_forward",
    "modules": [{"module": "layer: mlp", "times": 3, "bytes": 2 * GIB}],
    "plan": {"activation_per_sample": 3 * GIB, "fixed_memory": 4 * GIB, "floor": 5 * GIB},
    "timeline": {
        "points": [[0, GIB], [10, 8 * GIB], [20, GIB], [30, 5 * GIB]],
        "phases": [
            {"update": 1, "micro_batch": 1, "phase": "first_forward", "from": 0, "to": 10},
            {"update": 1, "micro_batch": 1, "phase": "first_backward", "from": 10, "to": 20},
            {"update": 1, "micro_batch": 1, "phase": "optimizer_step", "from": 20, "to": 31},
        ],
    },
}


class Answer(dict):
    def __init__(self, outputs):
        super().__init__(outputs)
        self.asked = []


@pytest.fixture
def found(monkeypatch):
    """The process answers with this, and what it was asked is kept beside it."""
    answer = Answer(json.loads(json.dumps(FOUND)))

    def run(request):
        answer.asked.append(request)
        return dict(answer)

    monkeypatch.setattr(process, "run", run)
    return answer


def notes(response):
    return [note["code"] for note in response["notes"]]


# What is asked


def test_options_become_a_request_with_defaults_filled_in(found, capsys):
    words = [
        "dry-run",
        "config.json",
        "--micro-batch",
        "٣",
        "--sequence-length",
        "4,096",
        "--targets",
        "q_proj",
        "v_proj",
        "--json",
    ]
    assert cli.main([*words, "--no-foreach"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"]["peak"] == 8 * GIB
    assert found.asked == [
        {
            "source": "config.json",
            "micro_batch": 3,
            "sequence_length": 4096,
            "accumulation_steps": 1,
            "checkpointing": "none",
            "optimizer": "AdamW",
            "foreach": False,
            "targets": ["q_proj", "v_proj"],
            "device": "auto",
        }
    ]


@pytest.mark.parametrize(
    "words, told",
    [
        ([], ["SOURCE: ", "missing"]),
        (["config.json", "--micro-batch", "0"], ["--micro-batch: ", "at least 1"]),
        (["config.json", "--precision", "fp8"], ["--precision: ", "bf16"]),
        (["config.json", "--attention", "flash", "--precision", "fp32"], ["--attention: ", "fp32"]),
        (["config.json", "--optimiser", "SGD"], ["optimizer"]),
        (["config.json", "--plot", "out.jpg"], ["--plot: ", ".svg"]),
        (["config.json", "--language", "ar", "--micro-batch", "0"], ["لا يمكن الإجابة"]),
    ],
)
def test_a_faulty_request_starts_nothing(words, told, found, capsys):
    assert cli.main(["dry-run", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [text for text in told if text not in printed.err] == []
    assert found.asked == []


def test_a_number_is_no_path(found):
    response = dry_run("config.json", optimizer=3)
    assert response["errors"][0]["field"] == "optimizer"
    assert found.asked == []


def test_requests_of_the_contract_cannot_start_it():
    response = json.loads(api.run('{"calculator": "dry_run", "inputs": {"source": "os:getcwd"}}'))
    assert response["errors"][0]["code"] == "unknown_calculator"


def build():
    """Stands for a reader's function."""


def test_a_function_is_asked_for_by_its_name(found):
    assert dry_run(build, micro_batch=2)["ok"]
    assert found.asked[0]["source"] == f"{__name__}:build"


# What is said


@pytest.mark.usefixtures("found")
def test_the_report_is_a_table_with_heads(capsys):
    assert cli.main(["dry-run", "config.json"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"Peak memory, per device +8 GiB", out)
    lines = out.splitlines()
    [head] = [line for line in lines if "Optimizer state  Gradients" in line]
    row = lines[lines.index(head) + 1]
    assert row.split()[:4] == ["2", "first", "forward", "pass"]
    assert row.index("8 GiB") == head.index("Peak")
    assert re.search(r"layer: mlp +3 +2 GiB", out)
    assert f"--activation-per-sample '{3 * GIB} B' --fixed-memory '{4 * GIB} B'" in out


@pytest.mark.usefixtures("found")
def test_the_report_speaks_arabic(capsys):
    assert cli.main(["dry-run", "config.json", "--language", "ar"]) == 0
    assert "ذروة الذاكرة" in capsys.readouterr().out


@pytest.mark.usefixtures("found")
def test_the_worked_example_is_the_peak_s_parts():
    [step] = dry_run("config.json")["steps"]
    assert "first forward" in step["text"]


@pytest.mark.parametrize(
    "changes, options, codes",
    [
        ({}, {}, ["dry_run_plan", "dry_run_traced"]),
        ({"engine": "meta", "reason": "no_compiler"}, {}, ["dry_run_meta_no_compiler", "dry_run_plan", "dry_run_traced"]),
        (
            {"engine": "meta", "reason": "not_linux"},
            {"precision": "bf16-mixed"},
            ["dry_run_meta_not_linux", "dry_run_cpu_autocast", "dry_run_plan", "dry_run_traced"],
        ),
        ({"affine": False}, {}, ["dry_run_not_affine", "dry_run_plan", "dry_run_traced"]),
        (
            {"plan": {"activation_per_sample": 1, "fixed_memory": 4, "floor": 6}},
            {},
            ["dry_run_plan", "dry_run_floor", "dry_run_traced"],
        ),
    ],
)
def test_notes_say_what_the_figures_are(changes, options, codes, found):
    found.update(changes)
    assert notes(dry_run("config.json", **options)) == codes


def test_an_interrupted_run_is_marked_and_ends_as_interrupted(found, capsys):
    for name in set(FOUND) - {"engine"}:
        del found[name]
    found["complete"] = False
    assert cli.main(["dry-run", "config.json", "--plot", "unused.svg"]) == 130
    assert "interrupted" in capsys.readouterr().out
    assert cli.main(["dry-run", "config.json", "--json"]) == 130
    assert notes(json.loads(capsys.readouterr().out)) == ["dry_run_incomplete", "dry_run_traced"]
    assert not Path("unused.svg").exists()


# The process


SCRIPT = "import json, sys; request = json.load(sys.stdin); open(request['result'], 'w').write(json.dumps({answer}))"


@pytest.fixture
def starts(monkeypatch):
    """Start a script instead of the real process, on a Python that seems to have torch."""

    def start(script):
        monkeypatch.setattr(process.importlib.util, "find_spec", lambda _: True)
        monkeypatch.setattr(process, "command", lambda: [sys.executable, "-c", script])

    return start


def test_it_is_this_python_s_own_module():
    assert process.command() == [sys.executable, "-m", "gradaccum.torch"]


@pytest.mark.cpython_only
def test_the_process_gets_the_request_and_the_paths_and_leaves_its_outputs(starts, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    starts("import os\n" + SCRIPT.format(answer="{'outputs': {**request, 'paths': os.environ['PYTHONPATH']}}"))
    outputs = process.run({"source": "config.json"})
    assert outputs["source"] == "config.json"
    assert outputs["path"] == [str(Path.cwd()), *sys.path]
    assert outputs["paths"].endswith("elsewhere")


@pytest.mark.cpython_only
def test_what_the_process_refuses_is_told_in_the_reader_s_language(starts):
    details = {"where": "model.py:7", "line": "x.item()", "reason": ""}
    starts(SCRIPT.format(answer=f"{{'error': ['source', 'unsupported_model', 'needs_value', {details}]}}"))
    for language, word in (("en", "asks for the value"), ("ar", "قيمة")):
        [error] = dry_run("my_model:build", language=language)["errors"]
        assert error["code"] == "unsupported_model"
        assert word in error["message"]
        assert "model.py:7" in error["message"]


@pytest.mark.cpython_only
def test_a_process_that_dies_is_no_silence(starts):
    starts("raise SystemExit(7)")
    [error] = dry_run("config.json")["errors"]
    assert "status 7" in error["message"]


@pytest.mark.cpython_only
def test_an_interrupt_waits_for_the_process_to_leave_what_it_has(starts, monkeypatch):
    starts(SCRIPT.format(answer="{'outputs': {'complete': False}}"))
    communicate = subprocess.Popen.communicate

    def interrupted(self, *arguments):
        communicate(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    assert process.run({"source": "config.json"}) == {"complete": False}


@pytest.mark.parametrize("language, word", [("en", "gradaccum[torch]"), ("ar", "ثبِّت")])
def test_without_torch_it_says_what_to_install(language, word, monkeypatch, capsys):
    monkeypatch.setattr(process.importlib.util, "find_spec", lambda _: None)
    assert cli.main(["dry-run", "config.json", "--lang", language]) == 2
    err = capsys.readouterr().err
    assert "torch" in err
    assert word in err


# The picture


@pytest.mark.usefixtures("found")
def test_the_picture_is_drawn_into_a_file(tmp_path):
    target = tmp_path / "out.svg"
    assert dry_run("config.json", plot=str(target))["ok"]
    [points] = re.findall('<polyline.* points="(.*)"/>', target.read_text(encoding="utf-8"))
    heights = [float(place.split(",")[1]) for place in points.split()]
    assert heights[1] == picture.TOP
    assert heights[0] == heights[2] > heights[3] > heights[1]


def test_the_picture_has_the_reader_s_words_and_time_runs_left_to_right():
    drawn = {language: picture.svg(FOUND, language) for language in ("en", "ar")}
    assert "optimizer step" in drawn["en"]
    assert "خطوة المُحسِّن" in drawn["ar"]
    assert 'direction="rtl"' in drawn["ar"]
    lines = [re.search("<polyline.*", text)[0] for text in drawn.values()]
    assert lines[0] == lines[1]


@pytest.mark.usefixtures("found")
def test_a_picture_that_cannot_be_written_is_an_error(tmp_path):
    [error] = dry_run("config.json", plot=str(tmp_path / "nowhere" / "out.svg"))["errors"]
    assert error["field"] == "plot"
    assert "No such file" in error["message"]


def test_png_needs_matplotlib(found, monkeypatch):
    monkeypatch.setattr(dryrun.importlib.util, "find_spec", lambda _: None)
    [error] = dry_run("config.json", plot="out.png")["errors"]
    assert "matplotlib" in error["message"]
    assert found.asked == []


@pytest.mark.usefixtures("found")
def test_png_is_left_to_matplotlib(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(dryrun.importlib.util, "find_spec", lambda _: True)
    monkeypatch.setitem(sys.modules, "gradaccum.torch.plot", type("plot", (), {"png": lambda path, _: drawn.append(path)}))
    assert dry_run("config.json", plot=str(tmp_path / "out.png"))["ok"]
    assert drawn == [tmp_path / "out.png"]


@pytest.mark.parametrize("most", [1, 7, 1023, 1024, 5 * GIB // 2, 97 * GIB, 1000 * GIB])
def test_axes_have_a_few_round_ticks(most):
    found = picture.ticks(most)
    assert found[0] == 0
    assert 2 <= len(found) <= 6
    assert found[-1] <= most < found[-1] + found[1]


@pytest.mark.usefixtures("found")
def test_an_answer_is_the_same_text_from_both_faces():
    request = {"calculator": "dry_run", "inputs": {"source": "config.json"}, "language": "en"}
    assert jsontext.loads(dryrun.respond(jsontext.dumps(request))) == dry_run("config.json")
