from itertools import pairwise

import pytest

from gradaccum.window import LENGTHS, segments

MEMORY = 10


@pytest.mark.parametrize(
    "steps, phases",
    [
        (1, "forward backward update zero_grad"),
        (2, "forward backward forward backward update zero_grad"),
        (5, "forward backward " * 5 + "update zero_grad"),
        (6, "forward backward " * 3 + "skipped forward backward update zero_grad"),
        (1000, "forward backward " * 3 + "skipped forward backward update zero_grad"),
    ],
)
def test_phases_of_a_window(steps, phases):
    assert [s.phase for s in segments(steps, MEMORY)] == phases.split()


@pytest.mark.parametrize("steps", [1, 2, 5, 6, 8, 10**18])
def test_every_micro_batch_is_shown_or_counted(steps):
    window = segments(steps, MEMORY)
    shown = [s.micro_batch for s in window if s.phase == "forward"]
    skipped = sum(s.micro_batch for s in window if s.phase == "skipped")
    assert len(shown) + skipped == steps
    assert shown[0] == 1
    assert shown[-1] == steps


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_what_is_held_follows_from_one_stretch_to_the_next(steps):
    window = segments(steps, MEMORY)
    for before, after in pairwise(window):
        assert before.end == after.start
        assert before.activations[1] == after.activations[0]
        assert before.gradients[1] == after.gradients[0]
    assert all(s.end - s.start == LENGTHS[s.phase] for s in window)
    assert (window[0].gradients, window[1].gradients) == ((0, 0), (0, 1))
    assert window[-1].gradients == (1, 0)


@pytest.mark.parametrize("steps", [1, 8])
def test_weights_move_once_and_activations_peak_at_one_micro_batch(steps):
    window = segments(steps, MEMORY)
    assert max(max(s.activations) for s in window) == MEMORY
    assert [s.phase for s in window if s.weights] == ["update", "zero_grad"]


def test_weights_change_once_in_the_update():
    changed = [(segment.phase, segment.weights) for segment in segments(9, MEMORY)]
    assert {phase for phase, weights in changed if weights == 1} == {"update", "zero_grad"}
    assert {weights for _, weights in changed} == {0, 1}


def test_a_window_of_two_to_the_letter():
    assert [(s.phase, s.micro_batch, s.start, s.activations, s.gradients) for s in segments(2, MEMORY)] == [
        ("forward", 1, 0, (0, MEMORY), (0, 0)),
        ("backward", 1, LENGTHS["forward"], (MEMORY, 0), (0, 1)),
        ("forward", 2, LENGTHS["forward"] + LENGTHS["backward"], (0, MEMORY), (1, 1)),
        ("backward", 2, 2 * LENGTHS["forward"] + LENGTHS["backward"], (MEMORY, 0), (1, 1)),
        ("update", 2, 2 * (LENGTHS["forward"] + LENGTHS["backward"]), (0, 0), (1, 1)),
        ("zero_grad", 2, 2 * (LENGTHS["forward"] + LENGTHS["backward"]) + LENGTHS["update"], (0, 0), (1, 0)),
    ]
