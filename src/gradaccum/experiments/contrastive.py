"""A contrastive loss sees only the pairs that go through together.

Queries q_i and keys k_i are points on the unit circle, s_ij = q_i M k_j / t with M a 2 x 2 matrix at the identity and t the
temperature, and the loss of query i is InfoNCE: -log of the softmax of s_i at its own key.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction

from gradaccum.experiments.vectors import PLACES, decimal, mean

Point = tuple[Decimal, Decimal]


def points(pairs: int) -> tuple[list[Point], list[Point]]:
    """Queries spread over the circle and keys a little further on, with rational coordinates.

    ((1 - u^2) / (1 + u^2), 2 u / (1 + u^2)) for evenly spaced u.

    >>> [len(side) for side in points(4)]
    [4, 4]
    """

    def on_circle(u: Fraction) -> Point:
        return decimal((1 - u * u) / (1 + u * u)), decimal(2 * u / (1 + u * u))

    steps = [Fraction(2 * i - pairs, pairs) for i in range(pairs)]
    return [on_circle(u) for u in steps], [on_circle(u + Fraction(1, 8)) for u in steps]


def loss_and_gradient(
    queries: list[Point], candidates: list[Point], first: int, temperature: Fraction
) -> tuple[Fraction, list[Fraction]]:
    """Mean loss of the queries and its gradient with respect to the four entries of M.

    Query i's own key is candidate ``first`` + i. Gradient: mean over i of sum_j (p_ij - [j is own]) q_i k_j / t.
    Source: InfoNCE, https://arxiv.org/abs/1807.03748; derivative of the softmax cross-entropy.

    >>> queries, keys = points(2)
    >>> loss_and_gradient(queries[:1], keys[:1], 0, Fraction(1, 10))[0]
    Fraction(0, 1)
    """
    with localcontext(Context(prec=PLACES)):
        sharpness = 1 / decimal(temperature)
        loss, gradient = Decimal(0), [Decimal(0)] * 4
        for i, (x, y) in enumerate(queries):
            scores = [(x * u + y * v) * sharpness for u, v in candidates]
            top = max(scores)
            weights = [(score - top).exp() for score in scores]
            whole = sum(weights, Decimal(0))
            own = first + i
            loss += whole.ln() + top - scores[own]
            for j, (u, v) in enumerate(candidates):
                share = (weights[j] / whole - (j == own)) * sharpness
                for k, product in enumerate((x * u, x * v, y * u, y * v)):
                    gradient[k] += share * product
        n = len(queries)
        return Fraction(loss / n), [Fraction(entry / n) for entry in gradient]


def whole_batch(pairs: int, temperature: Fraction) -> tuple[Fraction, list[Fraction]]:
    """Loss and gradient when every query is compared with every key.

    >>> round(float(whole_batch(8, Fraction(1))[0]), 4)
    1.5886
    """
    queries, keys = points(pairs)
    return loss_and_gradient(queries, keys, 0, temperature)


def accumulated(
    micro_batch: int, accumulation_steps: int, temperature: Fraction, *, cached: bool
) -> tuple[Fraction, list[Fraction]]:
    """Loss and gradient averaged over the micro-batches.

    Without a cache a query is compared with the b keys of its own micro-batch. With ``cached`` the keys of the whole batch were
    computed first, without their graphs, and each micro-batch is compared with all of them.
    Source of the cache: https://arxiv.org/abs/2101.06983.

    >>> [round(float(accumulated(1, 8, Fraction(1), cached=cached)[0]), 4) for cached in (False, True)]
    [0.0, 1.5886]
    """
    queries, keys = points(micro_batch * accumulation_steps)
    losses, gradients = [], []
    for start in range(0, len(queries), micro_batch):
        part = slice(start, start + micro_batch)
        candidates, first = (keys, start) if cached else (keys[part], 0)
        loss, gradient = loss_and_gradient(queries[part], candidates, first, temperature)
        losses.append([loss])
        gradients.append(gradient)
    return mean(losses)[0], mean(gradients)
