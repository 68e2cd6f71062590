"""Let every mutant meet the tests that reach it: a plugin of pytest, used by ``mutate``, in a tree laid out by it.

The tests are collected and run once, unchanged, to see which functions each of them reaches and how long it takes. Then each
mutant gets a fork of this process, in which the code of one function is exchanged. There its tests run, those first that
noticed most for their time so far, until one fails. What functions remember is forgotten before, so nothing is answered from
before the change.
"""

import functools
import gc
import itertools
import json
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from hypothesis import settings

TASK, FOUND = Path("task.json"), Path("found.json")
MOST_MEMORY = 3 * 2**30
MOST_SECONDS = 20
"""Tests for one mutant are chosen for so long in all, as the clean run took them."""
SURVIVED, KILLED, NOT_MET, FITS_NOT = 0, 1, 2, 3
registered: dict[str, tuple[FunctionType, dict[str, FunctionType]]] = {}
"""By the name of a function, as mutmut writes it, the function and its mutants."""
in_fork: list[str] = []
"""The mutant that a fork is about."""


def mutated(module: str, name: str, mutants: dict[str, FunctionType]) -> Callable[[FunctionType], FunctionType]:
    """Stands where mutmut puts its own decorator: leaves the function as it is, and notes it."""

    def note(function: FunctionType) -> FunctionType:
        registered[f"{module}.{name}"] = function, mutants
        return function

    return note


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """The searches of the tests find the same for every mutant."""
    settings.register_profile("mutants", derandomize=True, database=None, deadline=None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say what fails without any change; in a fork nobody hears it."""
    if report.failed and not in_fork:
        print(report.nodeid, report.longreprtext, sep="\n", flush=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """The clean run, then one fork for each mutant."""
    settings.load_profile("mutants")
    items = session.items
    seconds, reaching = [], []
    names = {function.__code__: name for name, (function, _) in registered.items()}
    for item, following in zip(items, [*items[1:], None], strict=True):
        took, reached = watched(item, following, names)
        seconds.append(took)
        reaching.append(reached)
    if session.testsfailed:
        raise session.Failed("the tests fail without any change")
    print(f"{len(items)} tests, {sum(seconds):.0f} s", flush=True)
    gc.freeze()
    meet(json.loads(TASK.read_text(encoding="utf-8")), items, seconds, reaching)
    return True


def watched(item: pytest.Item, following: pytest.Item | None, names: dict[CodeType, str]) -> tuple[float, set[str]]:
    """Run a test; the processor time it took, and the functions it reached."""
    reached: set[str] = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in names:
            reached.add(names[frame.f_code])

    forget()
    start = time.process_time()
    sys.setprofile(watch)
    try:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    finally:
        sys.setprofile(None)
    return time.process_time() - start, reached


def forget() -> None:
    """Empty whatever remembers answers."""
    for found in gc.get_objects():
        if isinstance(found, functools._lru_cache_wrapper):  # noqa: SLF001 its type has no public name
            found.cache_clear()


def meet(task: list[str], items: list[pytest.Item], seconds: list[float], reaching: list[set[str]]) -> None:
    """Write down what became of each mutant, as it becomes known."""
    noticed: Counter[int] = Counter()
    outcomes: dict[str, dict[str, Any]] = {}
    for place, mutant in enumerate(task):
        name = mutant.rpartition("__mutmut_")[0]
        chosen = [number for number, reached in enumerate(reaching) if name in reached]
        chosen.sort(key=lambda number: ((1 + noticed[number]) / (0.005 + seconds[number]), -number), reverse=True)
        chosen = within(chosen, seconds)
        limits = [2 + 10 * seconds[number] for number in chosen]
        outcome, by = in_a_fork(mutant, [items[number] for number in chosen], limits)
        noticed.update([chosen[by]] if by is not None else [])
        outcomes[mutant] = {"outcome": outcome, "by": items[chosen[by]].nodeid if by is not None else None}
        if place % 50 == 49 or place == len(task) - 1:
            FOUND.write_text(json.dumps(outcomes), encoding="utf-8")
            alive = sum(found["outcome"] != KILLED for found in outcomes.values())
            print(f"{place + 1} of {len(task)}, {alive} alive", flush=True)


def within(chosen: list[int], seconds: list[float]) -> list[int]:
    """The first of the tests, as many as fit into ``MOST_SECONDS``."""
    ends = itertools.accumulate(seconds[number] for number in chosen)
    return [number for number, end in zip(chosen, ends, strict=True) if end <= MOST_SECONDS]


def in_a_fork(mutant: str, items: list[pytest.Item], limits: list[float]) -> tuple[int, int | None]:
    """What becomes of a mutant, and the place of the test that noticed it."""
    if not items:
        return NOT_MET, None
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            os._exit(met(mutant, items, limits, writing))
        finally:
            os._exit(KILLED)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    told = os.read(reading, 4096).split()
    os.close(reading)
    code = os.waitstatus_to_exitcode(status)
    # Whatever ends a fork but its own word, the limit of its time among others, is noticed as well.
    outcome = code if code in {SURVIVED, FITS_NOT} else KILLED
    return outcome, int(told[-1]) if told and outcome == KILLED else None


def met(mutant: str, items: list[pytest.Item], limits: list[float], writing: int) -> int:
    """In the fork: exchange the code, and run the tests until one fails."""
    in_fork.append(mutant)
    items[0].config.option.tbstyle = "line"
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    function, mutants = registered[mutant.rpartition("__mutmut_")[0]]
    changed = mutants[mutant.rpartition(".")[2]]
    try:
        function.__code__ = changed.__code__
    except ValueError:
        return FITS_NOT
    function.__defaults__, function.__kwdefaults__ = changed.__defaults__, changed.__kwdefaults__
    forget()
    for place, (item, following) in enumerate(pairs(items)):
        os.write(writing, f"{place} ".encode())
        signal.setitimer(signal.ITIMER_PROF, limits[place])
        before = item.session.testsfailed
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed > before:
            return KILLED
    return SURVIVED


def pairs(items: list[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Each with the one after it, which says what pytest may leave set up."""
    yield from zip(items, [*items[1:], None], strict=True)
