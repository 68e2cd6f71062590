"""One trace answers for every micro-batch, to the byte."""

from dataclasses import replace

import pytest

from gradaccum import training
from gradaccum.models import chosen
from gradaccum.peaks import Peaks
from gradaccum.setting import Setting
from gradaccum.symbols import BATCH, CHUNK, Line, Recorder, highest

MODELS = ["llama-3-8b", "gpt2", "mixtral-8x7b-v0.1", "gemma-2-2b", "bert-base-uncased", "vit-base-patch16-224", "phi-4-mini"]
SETTINGS = [
    Setting(),
    Setting(checkpointing="full", loss="fused"),
    Setting(loss="fused", method="qlora"),
    Setting(precision="bf16-mixed", checkpointing="full", method="lora"),
    Setting(precision="fp32", padded=True),
    Setting(attention="eager", loss="fused", precision="fp16-mixed"),
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("steps, sharding, to_none", [(1, "none", True), (2, "zero1", False), (8, "zero3", True)])
def test_peaks_of_every_batch_are_those_of_a_trace_of_its_own(model, setting, steps, sharding, to_none):
    run = training.Plan(chosen({"model": model}), setting, 1, 128, replicas=4, sharding=sharding, zero_grad_to_none=to_none)
    peaks = Peaks(run)
    for b in (1, 2, 3, 37, 4096):
        alone = replace(run, micro_batch=b, accumulation_steps=steps)
        assert peaks.at(b, steps) == training.budget(alone).peak_phase.peak
        assert peaks.least <= peaks.at(b, steps)


@pytest.mark.parametrize("vocabulary", [8, 5000])
@pytest.mark.parametrize("mlp", [8, 900])
@pytest.mark.parametrize("loss", ["standard", "fused"])
@pytest.mark.parametrize("method, checkpointing", [("full", "none"), ("lora", "none"), ("full", "full")])
def test_whatever_is_the_peak_it_follows_from_one_trace(vocabulary, mlp, loss, method, checkpointing):
    """Small models in which now the logits of a chunk, now the layer, now the step of the optimizer is the most there is."""
    config = {
        "model_type": "llama",
        "hidden_size": 8,
        "intermediate_size": mlp,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    setting = Setting(loss=loss, method=method, checkpointing=checkpointing)
    run = training.Plan(chosen({"config": config | {"vocab_size": vocabulary}}), setting, 1, 12)
    peaks = Peaks(run)
    for b, steps in ((1, 1), (1, 2), (2, 3), (5, 2), (64, 1), (333, 2)):
        alone = replace(run, micro_batch=b, accumulation_steps=steps)
        assert peaks.at(b, steps) == training.budget(alone).peak_phase.peak


def test_only_moments_that_can_be_the_peak_are_kept():
    heights = [7 + 3 * BATCH, 6 + 3 * BATCH, 9, 8, CHUNK, 2 * CHUNK + 1]
    assert highest(heights) == (Line(1, 0, 2), Line(7, 3, 0), Line(9, 0, 0))
    assert Line(7, 3, 2).at(10, 5) == 7 + 30 + 10


def test_a_moment_covers_its_equal_and_nothing_that_is_higher_anywhere():
    line = Line(3, 4, 5)
    assert line.covers(line)
    for other in (Line(4, 4, 5), Line(3, 5, 5), Line(3, 4, 6)):
        assert other.covers(line)
        assert not line.covers(other)


def test_a_recorder_begins_with_nothing():
    recorder = Recorder()
    assert (recorder.heights, recorder.rest_heights) == ([0], [0])
