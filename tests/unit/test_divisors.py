import itertools
import math

import pytest

from gradaccum.divisors import WITNESSES, divisors, is_prime


@pytest.mark.parametrize("number", [1, 2, 97, 360, 1009, 1009**2, 1013 * 1019, 997 * 1009 * 1013, 1009 * 1709])
def test_divisors_are_all_that_divide(number):
    assert divisors(number) == [d for d in range(1, min(number, 10**6) + 1) if number % d == 0] + (
        [] if number <= 10**6 else [number // d for d in range(10**6, 0, -1) if number % d == 0 and number // d > 10**6]
    )


@pytest.mark.parametrize(
    "number, count",
    [(10**18, 361), (897_612_484_786_617_600, 103_680), (999_999_999_999_999_989, 2), ((10**9 + 7) ** 2, 3), (2**59, 60)],
)
def test_large_numbers_are_taken_apart(number, count):
    found = divisors(number)
    assert len(found) == count
    assert (found[0], found[-1]) == (1, number)


@pytest.mark.parametrize("number", [1_009 * 1_013, 2_047, 3_215_031_751, 341_550_071_728_321])
def test_pseudoprimes_are_composite(number):
    assert not is_prime(number)


@pytest.mark.parametrize("number", [*range(1, 130), 997**2, 1009**2, 1009 * 1013, 10**6, 2 * 1009 * 1013])
def test_divisors_against_trying_every_number(number):
    assert divisors(number) == [d for d in range(1, number + 1) if number % d == 0]


PRIMES = [p for p in range(2, 1500) if all(p % d for d in range(2, math.isqrt(p) + 1))]
ABOVE = [p for p in PRIMES if p > max(WITNESSES)]
# Chernick's: where all three factors are primes, the product passes Fermat's test for every witness and is no prime all the same.
CARMICHAEL = [
    (6 * k + 1) * (12 * k + 1) * (18 * k + 1) for k in range(7, 80) if all(step * k + 1 in PRIMES for step in (6, 12, 18))
]


def test_what_is_prime_against_trying_every_divisor():
    odd = [n for n in range(ABOVE[0], 60_000, 2) if all(n % witness for witness in WITNESSES)]
    composite = {n for n in odd if any(n % p == 0 for p in ABOVE if p * p <= n)}
    assert [n for n in odd if is_prime(n)] == [n for n in odd if n not in composite]


def test_what_looks_like_a_prime_to_fermat_is_taken_apart():
    assert len(CARMICHAEL) > 3
    assert not any(is_prime(number) for number in CARMICHAEL)
    assert [len(divisors(number)) for number in CARMICHAEL] == [8] * len(CARMICHAEL)


@pytest.mark.parametrize("many", [2, 3, 4, 5])
def test_primes_beyond_trial_division_are_all_found(many):
    large = [p for p in PRIMES if p > 1000]
    for start in range(0, 40, 7):
        factors = large[start : start + many]
        expected = {math.prod(chosen) for n in range(many + 1) for chosen in itertools.combinations(factors, n)}
        assert divisors(math.prod(factors)) == sorted(expected)
