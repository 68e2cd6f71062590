"""The recipes of optax and Keras on JAX, on as many devices as XLA was told to pretend.

    python -m frameworks.on_jax FRAMEWORK REPLICAS

Prints how far the update of one window is from the gradient of all its samples at once, for a full window and for one
that is not.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

os.environ["KERAS_BACKEND"] = "jax"

import jax
import jax.numpy as jnp
import keras
import numpy as np
import optax

from frameworks import running

VOCABULARY, WIDTH, LENGTH = 19, 8, 12
MICRO_BATCH, STEPS = 2, 4

Weights = dict[str, Any]


def apply(weights: Weights, inputs: Any) -> Any:
    """Next-token logits of a model without any mixing between positions."""
    return jnp.tanh(weights["embedding"][inputs]) @ weights["head"]


def samples(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sequences whose targets end at different places."""
    chance = np.random.default_rng(count)
    inputs, labels = (chance.integers(0, VOCABULARY, (count, LENGTH)) for _ in range(2))
    for row in labels:
        row[chance.integers(2, LENGTH) :] = -100
    return inputs, labels


def whole_batch_gradient(weights: Weights, inputs: np.ndarray, labels: np.ndarray) -> Weights:
    """Of the mean loss over all targets."""

    def mean_loss(weights: Weights) -> Any:
        counted = labels != -100
        chosen = jnp.take_along_axis(jax.nn.log_softmax(apply(weights, inputs)), jnp.where(counted, labels, 0)[..., None], -1)
        return -(chosen[..., 0] * counted).sum() / counted.sum()

    return jax.grad(mean_loss)(weights)


def trained_by_optax(recipe: Any, weights: Weights, inputs: np.ndarray, labels: np.ndarray) -> Weights:
    """One window of plain descent at a rate of one, so that the weights move by the gradient."""
    recipe.optax.adamw = lambda _: optax.sgd(1.0)
    return recipe.train(apply, jax.tree.map(jnp.asarray, weights), inputs, labels)


def trained_by_keras(recipe: Any, weights: Weights, inputs: np.ndarray, labels: np.ndarray) -> Weights:
    """The same."""
    recipe.keras.optimizers.AdamW = lambda _, **settings: keras.optimizers.SGD(1.0, **settings)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((LENGTH,), dtype="int32"),
            layers.Embedding(VOCABULARY, WIDTH),
            layers.Activation("tanh"),
            layers.Dense(VOCABULARY, use_bias=False),
        ]
    )
    model.set_weights([weights["embedding"].copy(), weights["head"].copy()])
    recipe.train(model, inputs, labels)
    return dict(zip(weights, model.get_weights(), strict=True))


def main(framework: str, replicas: int) -> None:
    """Run a full window and one of five samples for each eight."""
    jax.config.update("jax_enable_x64", True)
    keras.config.set_floatx("float64")
    if framework == "keras" and replicas > 1:
        keras.distribution.set_distribution(keras.distribution.DataParallel())
    if jax.device_count() != replicas:
        raise RuntimeError(f"XLA shows {jax.device_count()} devices, not {replicas}")
    trained = {"optax": trained_by_optax, "keras": trained_by_keras}[framework]
    chance = np.random.default_rng(0)
    weights = {"embedding": chance.normal(size=(VOCABULARY, WIDTH)), "head": chance.normal(size=(WIDTH, VOCABULARY))}
    differences = []
    for count in (MICRO_BATCH * STEPS * replicas, 5 * replicas):
        recipe = running.module(framework=framework, micro_batch=MICRO_BATCH, accumulation_steps=STEPS, replicas=replicas)
        inputs, labels = samples(count)
        after = trained(recipe, weights, inputs, labels)
        expected = whole_batch_gradient(weights, inputs, labels)
        moved = np.concatenate([(weights[name] - np.asarray(after[name])).ravel() for name in weights])
        wanted = np.concatenate([np.asarray(expected[name]).ravel() for name in weights])
        differences.append(float(np.linalg.norm(moved - wanted) / np.linalg.norm(wanted)))
    print(json.dumps(differences))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
