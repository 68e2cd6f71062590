import pytest

from gradaccum import models
from gradaccum.catalogue import models as catalogue
from gradaccum.errors import InputError
from gradaccum.setting import Setting
from gradaccum.training import traced

CONFIG = {"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "vocab_size": 10}


@pytest.mark.parametrize("name", [name for name, model in catalogue().items() if model["parameters"]])
def test_published_counts_come_out(name):
    architecture = models.chosen({"model": name})
    parameters = traced(architecture, Setting(), 1, 8, 1).parameters
    # BERT's published count is without a classifier.
    classifier = (architecture.hidden + 1) * architecture.labels if architecture.model_type == "bert" else 0
    assert sum(p.count * times for p, times in parameters) == catalogue()[name]["parameters"] + classifier


def test_a_config_goes_before_a_model():
    assert models.chosen({"config": CONFIG, "model": "llama-3-8b"}).hidden == 8


def test_one_of_the_two_is_needed():
    with pytest.raises(InputError) as caught:
        models.check({})
    assert (caught.value.field, caught.value.code) == ("model", "missing")
    models.check({"model": "gpt2"})


@pytest.mark.parametrize(
    "model, attention, kernel",
    [("gemma-2-2b", "sdpa", "eager"), ("gemma-2-2b", "flash", "flash"), ("gpt2", "sdpa", "sdpa"), ("gpt2", "eager", "eager")],
)
def test_a_soft_cap_is_not_run_through_sdpa(model, attention, kernel):
    assert models.kernel(models.chosen({"model": model}), attention) == kernel


def test_what_autocast_computes_in():
    known = {"bf16": None, "fp32": None, "bf16-mixed": "bf16", "bf16-autocast": "bf16", "fp16-mixed": "fp16"}
    assert {precision: Setting(precision=precision).autocast for precision in known} == known


@pytest.mark.parametrize(
    "values, name", [({"model": "gpt2"}, "openai-community/gpt2"), ({"config": CONFIG, "model": "gpt2"}, "name")]
)
def test_the_name_a_model_is_loaded_by(values, name):
    assert models.hub_name(values) == name


@pytest.mark.parametrize("values", [{"model": "gpt2"}, {"config": CONFIG}, {"config": CONFIG, "model": "gpt2"}])
def test_either_of_the_two_is_enough(values):
    assert models.check(values) is None


def test_the_missing_one_is_asked_for_in_words():
    with pytest.raises(InputError) as caught:
        models.check({"sequence_length": 8})
    assert caught.value.rule == "model_or_config"
    with pytest.raises(InputError) as caught:
        models.check({"config": {"model_type": "mamba"}})
    assert "gpt2" in caught.value.details["known"]


@pytest.mark.parametrize(
    "precision, dtype",
    [("bf16", "bf16"), ("bf16-autocast", "bf16"), ("bf16-mixed", "fp32"), ("fp32", "fp32"), ("fp16-mixed", "fp32")],
)
def test_what_base_weights_are_stored_in(precision, dtype):
    assert Setting(precision=precision).weight_dtype == dtype
