"""All divisors of a count: every micro-batch that splits a batch evenly."""

from __future__ import annotations

import math
from collections import Counter

WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
_SMALL = 1000


def divisors(number: int) -> list[int]:
    """All divisors in rising order.

    Up to 10^18 a count can be a product of two primes of nine digits, so what trial division leaves is taken apart by
    Pollard's method: https://doi.org/10.1007/BF01933667.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    found = [1]
    for prime, times in Counter(_factors(number)).items():
        found = [d * prime**power for d in found for power in range(times + 1)]
    return sorted(found)


def _factors(number: int) -> list[int]:
    factors = []
    for small in range(2, _SMALL):
        while number % small == 0:
            factors.append(small)
            number //= small
    waiting = [number] if number > 1 else []
    while waiting:
        number = waiting.pop()
        if number < _SMALL**2 or is_prime(number):
            factors.append(number)
        else:
            part = _part_of(number)
            waiting += [part, number // part]
    return factors


def is_prime(number: int) -> bool:
    """Whether an odd number that no witness divides is a prime. Miller and Rabin's test, which these witnesses make exact.

    Source: https://doi.org/10.1090/mcom/3134: exact below 3.18 * 10^23.

    >>> is_prime(10**9 + 7), is_prime((10**9 + 7) * (10**9 + 9))
    (True, False)
    """
    odd, halvings = number - 1, 0
    while odd % 2 == 0:
        odd, halvings = odd // 2, halvings + 1
    return not any(_is_composite(number, witness, odd, halvings) for witness in WITNESSES)


def _is_composite(number: int, witness: int, odd: int, halvings: int) -> bool:
    power = pow(witness, odd, number)
    if power in (1, number - 1):
        return False
    for _ in range(halvings - 1):
        power = power * power % number
        if power == number - 1:
            return False
    return True


def _part_of(number: int) -> int:
    """A proper divisor of a composite number."""
    part, shift = number, 0
    while part == number:
        shift += 1
        slow = fast = 2
        part = 1
        while part == 1:
            slow = (slow * slow + shift) % number
            fast = (fast * fast + shift) % number
            fast = (fast * fast + shift) % number
            part = math.gcd(slow - fast, number)
    return part
