import datetime as dt
import json
from collections import Counter
from importlib.resources import files

import pytest

from gradaccum.families import FAMILIES

MODELS = json.loads(files("gradaccum.catalogue").joinpath("models.json").read_text(encoding="utf-8"))
NAMES = [model["name"] for model in MODELS]

SIZES = {"n_embd", "n_layer", "n_head", "n_positions", "hidden_size", "intermediate_size", "num_hidden_layers"} | {
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "max_position_embeddings",
    "moe_intermediate_size",
    "num_experts",
    "num_local_experts",
    "num_experts_per_tok",
    "type_vocab_size",
    "image_size",
    "patch_size",
    "num_channels",
    "num_labels",
}


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_every_entry_has_a_source_and_the_date_it_was_checked(model):
    assert list(model) == ["name", "hub", "config", "parameters", "source", "checked", "note"]
    assert model["source"].startswith("https://")
    assert dt.date(2026, 1, 1) <= dt.date.fromisoformat(model["checked"])
    assert len(model["hub"].split("/")) == 2


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_sizes_and_counts_are_positive_whole_numbers(model):
    sizes = {field: value for field, value in model["config"].items() if field in SIZES}
    assert len(sizes) >= 5
    for field, value in sizes.items():
        assert type(value) is int, field
        assert value > 0, field
    if model["parameters"] is not None:
        assert type(model["parameters"]) is int
        assert model["parameters"] > 0


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_a_published_count_says_where_it_was_published(model):
    assert (model["parameters"] is None) != ("Count" in model["note"])


def test_names_are_unique_and_as_people_type_them():
    assert [name for name, times in Counter(NAMES).items() if times > 1] == []
    assert [name for name in NAMES if set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789.-")] == []


def test_at_least_forty_models_and_every_family():
    assert len(MODELS) >= 40
    assert {model["config"]["model_type"] for model in MODELS} == set(FAMILIES)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("gpt2", 124_439_808),
        ("llama-3-8b", 8_030_261_248),
        ("mistral-7b-v0.1", 7_241_732_096),
        ("qwen2.5-7b", 7_615_616_512),
        ("llama-3.1-405b", 405_853_388_800),
    ],
)
def test_well_known_counts(name, parameters):
    assert MODELS[NAMES.index(name)]["parameters"] == parameters
