"""The claim of the accuracy page: every published row is computed or has its reason, and how far the computed ones are off."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from evidence import requests
from evidence.measured import KINDS, rows
from evidence.predictions import GROUPS, answer, group_of, in_group, predictions, summary
from evidence.requests import Unanswered, request_of
from evidence.standins import CATALOGUE, STAND_INS
from evidence.words import catalogue
from gradaccum.catalogue import models

MEDIAN, NINE_IN_TEN = Fraction(5, 100), Fraction(10, 100)


def test_live_tensors_on_one_gpu_are_computed_as_closely_as_claimed():
    found = summary("allocated")
    assert found.count >= 30
    assert found.median <= MEDIAN
    assert found.nine_in_ten <= NINE_IN_TEN


def test_the_middle_needs_no_addition_to_the_packages_own_answers():
    assert summary("allocated", plain=True).median <= MEDIAN


def test_a_summary_counts_the_rows_within_it():
    errors = [abs(found.error) for found in in_group("allocated") if found.error is not None]
    within = summary("allocated").nine_in_ten
    assert Fraction(sum(error <= within for error in errors), len(errors)) >= Fraction(9, 10)
    assert Fraction(sum(error < within for error in errors), len(errors)) < Fraction(9, 10)


@pytest.mark.parametrize("found", predictions(), ids=lambda found: str(found.row.number))
def test_every_row_is_computed_or_has_its_reason(found):
    assert (found.peak is None) is (found.reason is not None)
    assert all(f"remark.{remark}" in catalogue() for remark in found.remarks)
    assert found.reason is None or f"reason.{found.reason}" in catalogue()


def test_every_row_stands_in_one_group():
    assert len(rows()) > 180
    assert Counter(GROUPS) == Counter(set(GROUPS))
    assert sorted(found.row.number for group in GROUPS for found in in_group(group)) == [row.number for row in rows()]


SAID = {
    "foundation-model-stack": "allocated",
    "MakazhanAlpamys/Soup benchmarks/gate-v0": "allocated",
    "MakazhanAlpamys/Soup benchmarks/gate-h100": "unstated",
    "pytorch/ao": "allocated",
    "NVIDIA/Megatron-LM tests": "allocated",
    "pytorch/torchtune README.md (Optimization": "active",
    "pytorch/torchtune README.md (Memory": "unstated",
    "modelscope": "reserved",
    "huggingface/peft method_comparison": "reserved",
    "huggingface/transformers": "driver",
    "deepspeedai/DeepSpeed#4527": "driver",
    "docs.unsloth.ai": "capacity",
    "stas00": "context",
}


@pytest.mark.parametrize("source, kind", SAID.items())
def test_kind_of_memory_that_a_source_read(source, kind):
    kinds = {row.kind for row in rows() if row.source.startswith(source)}
    assert kinds == {kind}


def test_every_kind_occurs():
    assert {row.kind for row in rows()} == set(KINDS)


def test_the_driver_never_reports_less_than_the_allocator():
    pairs = [(row.driver_beside, row.published) for row in rows() if row.driver_beside]
    assert len(pairs) > 30
    assert all(driver > allocated for driver, allocated in pairs)


def asked(row):
    try:
        return request_of(row)
    except Unanswered as refused:
        return refused.reason


@pytest.mark.parametrize("row", [row for row in rows() if row.published], ids=lambda row: str(row.number))
def test_no_rule_looks_at_the_figure(row):
    assert asked(replace(row, measured_gib="1.5")) == asked(row)


@pytest.mark.parametrize("name", STAND_INS)
def test_a_stand_in_has_as_many_parameters_as_published(name):
    (published,) = {float(row.params_b) for row in rows() if row.model == name}
    inputs = {"config": STAND_INS[name], "sequence_length": 8, "micro_batch": 1}
    assert answer(inputs)["parameters"] / 1e9 == pytest.approx(published, rel=2e-4)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if any(row.model == name for row in rows())])
def test_a_catalogue_model_is_the_one_published(name):
    config = models()[CATALOGUE[name]]["config"]
    said = {(int(row.layers), int(row.hidden)) for row in rows() if row.model == name}
    assert said == {(config["num_hidden_layers"], config["hidden_size"])}


def test_the_package_holds_twelve_bytes_a_logit_at_the_loss():
    sizes = {
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
    }
    inputs = {"sequence_length": 64, "micro_batch": 2, "method": "lora", "rank": 1}
    held = []
    for vocabulary in (32000, 64000):
        (phase,) = [
            phase
            for phase in answer(inputs | {"config": sizes | {"vocab_size": vocabulary}})["phases"]
            if phase["phase"] == "first_backward"
        ]
        held.append(phase["parts"]["activations"] + phase["parts"]["temporaries"])
    assert held[1] - held[0] == requests.LOSS_HERE * 2 * 64 * 32000


def test_several_devices_are_kept_apart():
    assert {row.gpus for row in rows() if group_of(row) == "allocated"} == {"1"}


def test_a_request_that_the_package_refuses_stops_the_build():
    with pytest.raises(ValueError, match="micro_batch"):
        answer({"model": "llama-3-8b", "sequence_length": 8, "micro_batch": 0})
