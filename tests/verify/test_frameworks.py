"""The matrix of learn/frameworks: what was recorded of each framework is what the installed version does."""

import json
from pathlib import Path

import pytest

from frameworks import probes, reductions

RECORDED = json.loads((Path(__file__).parents[2] / "docs" / "data" / "frameworks.json").read_text(encoding="utf-8"))
# What frameworks warn their own users of is not this project's fault, and differs with every version.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("name", probes.PROBES)
def test_a_framework_does_what_was_recorded(name):
    assert probes.run(name) == RECORDED["probes"][name]


def test_gradients_are_reduced_as_often_as_was_recorded():
    assert reductions.counted() == RECORDED["reductions"]


def test_every_probe_was_recorded():
    assert set(RECORDED["probes"]) == set(probes.PROBES)
