"""optax: what is inside MultiSteps sees windows, what is outside it every micro-batch."""

import jax.numpy as jnp
import optax


def windowed(schedule, accumulation_steps, max_norm=1.0):
    inner = optax.chain(
        optax.clip_by_global_norm(max_norm),  # on the window's mean
        optax.adamw(schedule),  # decays once; the schedule counts updates
    )
    return optax.MultiSteps(inner, accumulation_steps)


def weight(summed_loss, window_targets, accumulation_steps):
    """The loss to differentiate: MultiSteps takes the mean over a, and never counts targets."""
    return summed_loss * accumulation_steps / jnp.maximum(window_targets, 1)
