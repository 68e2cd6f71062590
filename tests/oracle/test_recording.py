"""The tape against recordings of PyTorch and Transformers: bytes that autograd keeps, bytes alive, AdamW's state.

``recording/`` is written by ``scripts/record_oracle.py``; ``recording-sample.json`` came with the project's brief.
"""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from gradaccum import storage
from gradaccum.activations import saved_bytes, trace
from gradaccum.architecture import architecture
from gradaccum.catalogue import models
from gradaccum.families import FAMILIES
from gradaccum.setting import Setting

HERE = Path(__file__).parent
# Published models that are recorded with Transformers' default sizes, so their recording does not name them.
DEFAULT_SIZES = {"gpt2": "gpt2", "bert-base-uncased": "bert-base-uncased", "vit-base-patch16-224": "vit-base-patch16-224"}
PHASES = range(4)
PEAK = 0.01
STEP = 0.001


def recorded(path):
    for model in json.loads(path.read_text(encoding="utf-8"))["models"]:
        sizes = models()[DEFAULT_SIZES[model["name"]]]["config"] if model["name"] in DEFAULT_SIZES else {}
        yield model | {"config": {"model_type": path.stem} | sizes | model["config"]}


MODELS = [m for path in (*sorted((HERE / "recording").glob("*.json")), HERE / "recording-sample.json") for m in recorded(path)]
CELLS = [(model, cell) for model in MODELS for cell in model["cells"]]
KEYS = ("attention", "padded", "checkpointing", "precision", "method")


def name_of(model, cell):
    return "-".join([model["name"], *(str(cell[key]).replace("True", "padded").replace("False", "whole") for key in KEYS)])


def points(sizes):
    return [(tuple(map(int, point.split(","))), size) for point, size in sizes.items()]


@cache
def traced(config, setting, micro_batch, length):
    return trace(architecture(json.loads(config), tuple(FAMILIES)), setting, micro_batch, length)


def ours(model, cell, point):
    setting = Setting(**{key: cell[key] for key in KEYS})
    return traced(json.dumps(model["config"]), setting, *point)


def worst_peak(model, cell):
    """The largest relative difference of a phase's peak or end."""
    differences = [0.0]
    for point, spans in points(cell.get("peaks", {})):
        found = ours(model, cell, point).phases
        for phase in PHASES:
            _, peak, end = spans[phase]
            differences += [abs(found[phase].peak / peak - 1), abs(found[phase].end / end - 1)]
    return max(differences)


cells = pytest.mark.parametrize("model, cell", CELLS, ids=[name_of(*pair) for pair in CELLS])


@cells
def test_saved_bytes_are_equal(model, cell):
    assert cell["saved"]
    for point, size in points(cell["saved"]):
        assert ours(model, cell, point).saved == size, point


WITH_LINES = [(model, cell) for model, cell in CELLS if "ledger" in cell]
DTYPES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
PREFIXES = ("base_model", "model", "transformer", "gpt_neox", "bert", "vit")
"""Of the names of modules outside the layers: the whole model and what stands around it, which the tape does not name."""


def inner(module):
    """A module's name without that of its layer: ``full:.mlp.gate`` of a layer of that kind is ``mlp.gate``."""
    return re.sub(r"^.*?:\.?", "", module)


def nearest(module, scope, known):
    """The module of ours that a recorded one is, or lies in: an activation function has no name of its own here."""
    names = module.split(".")
    while scope == "other" and names and names[0] in PREFIXES:
        names = names[1:]
    while names and ".".join(names) not in known:
        names = names[:-1]
    return ".".join(names)


@pytest.mark.parametrize("model, cell", WITH_LINES, ids=[name_of(*pair) for pair in WITH_LINES])
def test_every_line_of_the_ledger_is_pytorchs(model, cell):
    ledger = ours(model, cell, cell["ledger_at"]).ledger
    kept, names, recorded, theirs = Counter(), set(), Counter(), set()
    for line in ledger:
        place = inner(line.entry.module), line.entry.dtype
        kept[place] += line.size
        names.add((*place, f"{line.entry.operation}.{line.entry.slot}"))
    known = {module for module, _ in kept}
    for scope, module, _, operations, _, dtype, _, size in cell["ledger"]:
        place = nearest(module, scope, known), DTYPES.get(dtype, dtype)
        recorded[place] += size
        theirs |= {(*place, operation) for operation in operations.split()}
    assert kept == recorded
    # Where several operations keep one tensor, the ledger names the first. A checkpoint is no operation of PyTorch's.
    assert {name for name in names if not name[2].startswith("Checkpoint.")} <= theirs


@cells
def test_parameters_are_equal(model, cell):
    parameters = ours(model, cell, points(cell["saved"])[0][0]).parameters
    assert sum(p.count * times for p, times in parameters) == cell["parameters"]
    assert sum(p.count * times for p, times in parameters if p.trainable) == cell["trainable_parameters"]


@cells
def test_peaks_and_ends_of_phases_agree(model, cell):
    assert worst_peak(model, cell) <= PEAK


WITH_STEP = [(model, cell) for model, cell in CELLS if cell.get("adamw")]


@pytest.mark.parametrize("model, cell", WITH_STEP, ids=[name_of(*pair) for pair in WITH_STEP])
def test_adamw_needs_as_much(model, cell):
    parameters = ours(model, cell, points(cell["saved"])[0][0]).parameters
    for way, sizes in cell["adamw"].items():
        assert storage.gradient_bytes(parameters) == sizes["grad_bytes"]
        assert storage.optimizer_bytes(parameters, "adamw") == sizes["state_bytes"]
        step = storage.step_bytes(parameters, "adamw", foreach=way == "foreach")
        assert step == pytest.approx(sizes["step2_extra"], rel=STEP)


@pytest.mark.parametrize("model", MODELS, ids=[model["name"] for model in MODELS])
def test_saved_bytes_need_no_backward_pass(model):
    cell = model["cells"][0]
    (b, s), size = points(cell["saved"])[0]
    arch = architecture(model["config"], tuple(FAMILIES))
    assert saved_bytes(arch, Setting(**{key: cell[key] for key in KEYS}), b, s) == size


def test_one_byte_less_would_be_found():
    model, cell = CELLS[0]
    (point, size), *_ = points(cell["saved"])
    assert ours(model, cell | {"saved": {}}, point).saved != size - 1


def test_both_models_of_the_sample_and_some_of_our_own_are_there():
    assert len(MODELS) > 2
    assert {"gpt2", "llama3-8b"} <= {model["name"] for model in MODELS}
