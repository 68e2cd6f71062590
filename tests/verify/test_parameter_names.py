"""Names and sizes of all weights, against those that Transformers gives the same architecture."""

import re

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageClassification, AutoModelForSequenceClassification

from gradaccum.activations import parameters_of
from gradaccum.architecture import architecture
from gradaccum.catalogue import models
from gradaccum.defaults import completed
from gradaccum.families import FAMILIES
from gradaccum.setting import Setting

CONFIGS = {model["config"]["model_type"]: model["config"] for model in models().values()}
CLASSES = {"bert": AutoModelForSequenceClassification, "vit": AutoModelForImageClassification}
DEPTH = {"num_hidden_layers": 2, "n_layer": 2}


def of_transformers(config):
    with torch.device("meta"):
        model = CLASSES.get(config["model_type"], AutoModelForCausalLM).from_config(AutoConfig.for_model(**config))
    for name, parameter in model.named_parameters():
        within = re.sub(r"^.*?\.(layers|layer|h)\.\d+\.", "", name)
        outside = re.sub(r"^(model|transformer|gpt_neox|bert|vit)\.", "", name)
        yield (f"layer: {within}" if within != name else outside), sorted(parameter.shape)


def ours(config):
    for parameter, _ in parameters_of(architecture(config, tuple(FAMILIES)), Setting()):
        # A layer's scope is its kind and what tells it from others of that kind.
        yield re.sub(r"^.*:\.?", "layer: ", parameter.name), sorted(parameter.shape)


@pytest.mark.parametrize("model_type", FAMILIES)
def test_names_and_sizes_are_those_of_transformers(model_type):
    shallow = {key: DEPTH.get(key, value) for key, value in CONFIGS[model_type].items() if key != "layer_types"}
    assert dict(ours(shallow)) == dict(of_transformers(shallow))


@pytest.mark.parametrize("model_type", FAMILIES)
def test_what_a_config_leaves_out_is_what_transformers_takes(model_type):
    # A window that is switched off reads as none.
    theirs, named = AutoConfig.for_model(model_type, use_sliding_window=True), completed({"model_type": model_type})
    assert {key: getattr(theirs, key) for key in named} == named
    bare = {"model_type": model_type, "n_layer" if hasattr(theirs, "n_layer") else "num_hidden_layers": 2}
    assert dict(ours(bare)) == dict(of_transformers(bare))
