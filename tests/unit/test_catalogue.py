import datetime as dt

import pytest

from gradaccum import catalogue

GPUS = catalogue.gpus()


@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_every_figure_has_a_source_and_the_date_it_was_checked(gpu):
    assert gpu["source"].startswith("https://")
    assert dt.date(2026, 1, 1) <= dt.date.fromisoformat(gpu["checked"])
    assert gpu["memory_gib"] >= 1
    assert set(gpu) == set(catalogue.Gpu.__annotations__)


def test_memory_is_in_bytes():
    assert catalogue.gpu_memory("RTX 4090") == 24 * 2**30
