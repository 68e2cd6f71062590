from fractions import Fraction

import pytest

from gradaccum import loss

F = Fraction


@pytest.mark.parametrize(
    "tokens, weights",
    [
        ([[2, 8]], [[F(5, 2), F(5, 8)]]),
        ([[52], [84]], [[F(17, 13)], [F(17, 21)]]),
        ([[512, 512], [512, 512]], [[1, 1], [1, 1]]),
        ([[8, 0]], [[F(1, 2), None]]),
    ],
)
def test_token_weights(tokens, weights):
    assert loss.token_weights(tokens) == weights


@pytest.mark.parametrize(
    "tokens, losses, right, means",
    [
        ([[2, 8]], [[F(4), F(1)]], F(8, 5), F(5, 2)),
        ([[10, 30], [20, 40]], [[F(1), F(2)], [F(3), F(4)]], F(29, 10), F(5, 2)),
        ([[8, 0]], [[F(3), None]], F(3), F(3, 2)),
        ([[8, 0]], [[F(3), F(100)]], F(3), F(3, 2)),
    ],
)
def test_losses(tokens, losses, right, means):
    assert loss.correct_loss(tokens, losses) == right
    assert loss.mean_of_means_loss(tokens, losses) == means


def test_weighting_by_the_token_weights_gives_the_mean_of_means():
    tokens, losses = [[2, 8], [5, 1]], [[F(4), F(1)], [F(2), F(7)]]
    weights = loss.token_weights(tokens)
    weighted = sum(
        n * w * value
        for row, weight_row, loss_row in zip(tokens, weights, losses, strict=True)
        for n, w, value in zip(row, weight_row, loss_row, strict=True)
    )
    assert weighted / loss.total_tokens(tokens) == loss.mean_of_means_loss(tokens, losses)


def test_a_loss_of_zero_is_a_loss():
    assert loss.correct_loss([[2, 2]], [[Fraction(0), Fraction(2)]]) == 1
    assert loss.mean_of_means_loss([[2, 6]], [[Fraction(0), Fraction(2)]]) == 1
    assert isinstance(loss.correct_loss([[2]], [[0]]), Fraction)
    assert isinstance(loss.mean_of_means_loss([[2]], [[0]]), Fraction)
