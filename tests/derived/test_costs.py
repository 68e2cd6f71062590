"""The time of an update once more, in seconds, from what a device does in it, and then as a part of the whole."""

from dataclasses import replace
from fractions import Fraction

import pytest

from gradaccum import costs, models, training
from gradaccum.activations import parameters_of
from gradaccum.setting import Setting

LLAMA = {"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3}
LLAMA |= {"num_attention_heads": 4, "vocab_size": 96, "tie_word_embeddings": False}
S, N = 40, 24
DEVICE = costs.Device(Fraction(7 * 10**9), Fraction(11 * 10**6), Fraction(13 * 10**4))
# By hand: two tables, and per layer four attention products, three of the feed-forward part, two norms; one more at the end.
LINEAR = 3 * (4 * 32 * 32 + 3 * 32 * 48)
WHOLE = 2 * 96 * 32 + LINEAR + 3 * 2 * 32 + 32


@pytest.mark.parametrize("replicas", [1, 2, 4])
@pytest.mark.parametrize("sharding", ["none", "zero1", "zero2", "zero3"])
@pytest.mark.parametrize("checkpointing", ["none", "full"])
@pytest.mark.parametrize("deferred", [False, True])
def test_what_a_device_does_in_an_update(replicas, sharding, checkpointing, deferred):
    setting = Setting(checkpointing=checkpointing)
    run = training.Plan(models.chosen({"config": LLAMA}), setting, 1, S, replicas=replicas, sharding=sharding)
    run = replace(run, defer_reduction=deferred)
    parameters = parameters_of(run.architecture, setting)
    found = costs.of_run(run, training.fixed(run, parameters), parameters, N, DEVICE)
    stage = ["none", "zero1", "zero2", "zero3"].index(sharding) if replicas > 1 else 0
    bytes_of_weights = 2 * WHOLE
    # The tables count as if both were multiplied; attention multiplies queries by keys and scores by values.
    forward = S * (2 * WHOLE + 2 * 2 * S * 32 * 3)
    whole = Fraction(3 * forward * N) / DEVICE.compute
    passes = 3 if checkpointing == "full" else 2
    device_state = 2 * bytes_of_weights if stage == 0 else -(-2 * bytes_of_weights // replicas)
    gradient_part = Fraction(bytes_of_weights, replicas) if stage else bytes_of_weights
    step = (gradient_part + 2 * gradient_part + 2 * device_state) / DEVICE.memory
    ring = Fraction(replicas - 1, replicas) * bytes_of_weights
    if stage < 2 or (stage == 2 and deferred):
        once, each = 2 * ring, 0
    elif stage == 2:
        once, each = ring, ring
    else:
        once, each = (ring, 2 * ring) if deferred else (0, 3 * ring)
    for steps in (1, 8):
        time = found.at(steps)
        assert time.compute == 1
        assert time.recomputation == (Fraction(1, 3) if checkpointing == "full" else 0)
        assert time.idle * whole == steps * passes * bytes_of_weights / DEVICE.memory
        assert time.reduction * whole == (once + steps * each) / DEVICE.network
        assert time.optimizer * whole == step
        assert time.total == time.compute + time.recomputation + time.idle + time.reduction + time.optimizer


def test_quantized_weights_are_written_out_and_read_again():
    setting = Setting(method="qlora")
    run = training.Plan(models.chosen({"config": LLAMA}), setting, 1, S)
    parameters = parameters_of(run.architecture, setting)
    found = costs.of_run(run, training.fixed(run, parameters), parameters, N, DEVICE)
    held = training.fixed(run, parameters)
    adapters = held.gradients
    weights = WHOLE + sum(p.count * times for p, times in parameters if p.trainable)
    forward = S * (2 * weights + 2 * 2 * S * 32 * 3)
    whole = Fraction(3 * forward * N) / DEVICE.compute
    assert found.idle * whole == 2 * (held.weights + 2 * 2 * LINEAR) / DEVICE.memory
    assert found.update.optimizer * whole == (3 * adapters + 2 * held.optimizer_states) / DEVICE.memory


EXPERTS = {"model_type": "mixtral", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "vocab_size": 96}
EXPERTS |= {"num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 8, "tie_word_embeddings": False}


@pytest.mark.parametrize("taken", [1, 2, 8])
@pytest.mark.parametrize("window", [None, 16, 1000])
def test_a_token_meets_its_experts_and_no_others(taken, window):
    config = EXPERTS | {"num_experts_per_tok": taken, "sliding_window": window}
    architecture = models.chosen({"config": config})
    layer = 2 * 32 * 32 + 2 * 32 * 16 + 32 * 8 + taken * 3 * 32 * 48 + 2 * 32
    met = 2 * 96 * 32 + 2 * layer + 32
    for tokens in (1, 15, 40):
        seen = min(tokens, window or tokens)
        # A multiplication and an addition for each weight; two products of attention with every token that is seen.
        expected = sum(2 * met + 2 * (2 * 32 * seen) * 2 for _ in range(tokens))
        found = costs.forward_operations(architecture, parameters_of(architecture, Setting()), tokens)
        # A count, exact however large: not a double.
        assert (found, type(found)) == (expected, int)


@pytest.mark.parametrize("image, patch", [(32, 8), (32, 16), (36, 8), (16, 16)])
def test_tokens_of_an_image_are_cut_out_one_by_one(image, patch):
    config = {"model_type": "vit", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1}
    config |= {"num_attention_heads": 4, "image_size": image, "patch_size": patch}
    cut = [(x, y) for x in range(0, image - patch + 1, patch) for y in range(0, image - patch + 1, patch)]
    assert costs.tokens_of(models.chosen({"config": config}), 7) == len(cut) + 1


@pytest.mark.parametrize("half", [Fraction(1), Fraction(1, 2), Fraction(7)])
def test_without_a_model_only_the_utilisation_counts(half):
    for micro_batch in (1, 2, 16):
        time = costs.without_model(16, half).at(16 // micro_batch)
        assert time.total == 1 / (micro_batch / (micro_batch + half))
        assert (time.compute, time.recomputation, time.reduction, time.optimizer) == (1, 0, 0, 0)


def test_an_update_is_one_reduction_and_as_many_as_micro_batches():
    update = costs.Time(Fraction(2), Fraction(3), Fraction(99), Fraction(5), Fraction(7))
    found = costs.Costs(update, idle=Fraction(11), reduction=Fraction(13)).at(4)
    assert found == costs.Time(Fraction(2), Fraction(3), Fraction(44), Fraction(57), Fraction(7))
    assert found.parts == (2, 3, 44, 57, 7)
    assert found.total == 113
