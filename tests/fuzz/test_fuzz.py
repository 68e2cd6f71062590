"""Requests that once broke something, and a short part of the search that `make fuzz` makes long."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trust import fuzz, generate, invariants

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_once_broke_is_in_order(path):
    assert fuzz.faults(path.read_bytes().decode("utf-8", "surrogatepass")) == []


@pytest.mark.parametrize("seed", range(20))
def test_requests_of_a_seed(seed):
    source = Random(seed)
    for _ in range(25):
        text = generate.request(source)
        invariants.check(text, fuzz.asked(text)[0])


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_requests_of_a_search(source):
    text = generate.request(source)
    invariants.check(text, fuzz.asked(text)[0])


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_bytes_of_a_fuzzer(data):
    for start in (b"", b"\xff"):
        text = fuzz.text_of(start + data)
        invariants.check(text, fuzz.asked(text)[0])


def test_one_seed_gives_one_list_of_requests_that_are_of_every_kind():
    first, second = ([generate.request(source) for _ in range(300)] for source in (Random(7), Random(7)))
    assert first == second
    found = [invariants.check(text, fuzz.asked(text)[0]) for text in first]
    assert {answer["calculator"] for answer in found if answer["ok"]} == set(invariants.RULES)
    assert 0.2 < sum(answer["ok"] for answer in found) / len(found) < 0.9


BROKEN = {
    "keys of a refusal": '{"ok": false, "calculator": null, "errors": [], "more": 1}',
    "a refusal names a fault": '{"ok": false, "calculator": null, "errors": []}',
    "a number that JSON lacks": '{"ok": true, "outputs": NaN}',
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_answer_is_seen(rule):
    with pytest.raises(invariants.ViolationError, match=rule):
        invariants.check("{}", BROKEN[rule])


def test_a_wrong_number_is_seen():
    text = '{"calculator": "accumulation", "inputs": {"micro_batch": 2, "accumulation_steps": 3}}'
    answer = fuzz.asked(text)[0]
    invariants.check(text, answer)
    with pytest.raises(invariants.ViolationError, match="E = b a g"):
        invariants.check(text, answer.replace('"effective_batch": 6', '"effective_batch": 7'))
