"""Look for requests that break `run`: `make fuzz SECONDS=600 SEED=1`.

Two searches for as long as asked: Hypothesis draws requests from its own source of chance; atheris, guided by the branches the
package takes, changes texts and the bytes that choose requests. Every answer is held against ``invariants``; none may take
more than 200 ms of processor time, nor the process more memory than allowed.
What breaks is written to build/fuzz as the text of a request: put it into tests/fuzz/corpus once it is mended.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from random import Random
from typing import Any

from gradaccum import api
from paths import BUILD, ROOT
from trust import invariants
from trust.generate import request
from trust.results import write_result

MOST_SECONDS = 0.2
MOST_MEMORY = 2 * 2**30
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
FOUND = BUILD / "fuzz"
BATCH = 100
SHOWN = 600
"""Seconds from which on a search is shown on the page; a shorter one is a trial."""


def asked(text: str) -> tuple[str, float]:
    """The answer and its processor time; a slow one is asked again, since the first time may have been disturbed."""
    answer, seconds = "", MOST_SECONDS + 1
    for _ in range(3):
        start = time.process_time()
        answer = api.run(text)
        seconds = min(seconds, time.process_time() - start)
        if seconds <= MOST_SECONDS:
            break
    return answer, seconds


def faults(text: str) -> list[str]:
    """What is wrong with the answer to a request."""
    try:
        answer, seconds = asked(text)
        invariants.check(text, answer)
    except Exception as error:  # noqa: BLE001 the search is for any of them
        return [f"{type(error).__name__}: {error}"[:300]]
    return [f"slow: {1000 * seconds:.0f} ms"] if seconds > MOST_SECONDS else []


class Tally:
    """What a search has seen."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.slowest = 0.0
        self.findings: dict[str, str] = {}

    def take(self, text: str) -> None:
        """Ask one request and count what became of it."""
        start = time.process_time()
        try:
            found = invariants.check(text, api.run(text))
            self.outcomes["answered" if found["ok"] else "refused"] += 1
        except Exception as error:  # noqa: BLE001 the search is for any of them
            self.keep(text, f"{type(error).__name__}: {error}")
        seconds = time.process_time() - start
        if seconds > MOST_SECONDS and (wrong := faults(text)):
            self.keep(text, wrong[0])
        elif seconds <= MOST_SECONDS:
            self.slowest = max(self.slowest, seconds)

    def keep(self, text: str, reason: str) -> None:
        """Write a request that broke something down."""
        self.outcomes["broken"] += 1
        name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        FOUND.mkdir(parents=True, exist_ok=True)
        (FOUND / f"{name}.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
        self.findings[name] = reason[:300]

    def figures(self) -> dict[str, Any]:
        """The counts as they are published."""
        return {
            "requests": self.outcomes.total(),
            **{name: self.outcomes[name] for name in ("answered", "refused", "broken")},
            "slowest_ms": round(1000 * self.slowest),
            "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }


def with_hypothesis(seconds: float, seed: int) -> Tally:
    """Batches of examples until the time is over; each batch has a seed of its own."""
    import hypothesis  # noqa: PLC0415 the other search does without

    tally, end, batch = Tally(), time.monotonic() + seconds, 0
    while time.monotonic() < end:

        @hypothesis.seed(seed + batch)
        @hypothesis.settings(
            max_examples=BATCH,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        # Its own chance leans to the simplest, which is rarely right; a seed gives requests as parity asks them.
        @hypothesis.given(hypothesis.strategies.randoms(use_true_random=False) | hypothesis.strategies.integers(0).map(Random))
        def search(random: Random) -> None:
            tally.take(request(random))

        search()
        batch += 1
    return tally


class Bytes(Random):
    """A source of chance that reads the bytes of a fuzzer, and nothing but zeros after them."""

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self.data, self.place = data, 0

    def getrandbits(self, k: int) -> int:
        """The next bits."""
        size = -(-k // 8)
        part = self.data[self.place : self.place + size]
        self.place += size
        return int.from_bytes(part.ljust(size, b"\0"), "big") >> (8 * size - k)

    def random(self) -> float:
        """A number below 1 of two bytes, so that a change of one byte matters."""
        return self.getrandbits(16) / 2**16


def text_of(data: bytes) -> str:
    """What bytes of the fuzzer stand for: a text as it is, or choices of the generator."""
    if data[:1] == b"\xff":
        return request(Bytes(data[1:]))
    return data.decode("utf-8", "replace")


def start_guided(seconds: int, seed: int) -> subprocess.Popen[str]:
    """Start the guided search on the committed corpus and some requests."""
    folder = FOUND / "corpus"
    folder.mkdir(parents=True, exist_ok=True)
    for path in CORPUS.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for number in range(200):
        (folder / f"chance-{number}").write_bytes(b"\xff" + Random(seed + number).randbytes(400))
        (folder / f"text-{number}").write_text(request(Random(seed + number)), encoding="utf-8", errors="replace")
    command = [sys.executable, "-m", "trust.guided", str(seconds), str(seed)]
    with (FOUND / "guided.log").open("w") as log:
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, text=True)


def with_atheris(search: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for the guided search, and read what it wrote down."""
    # libFuzzer ends early at a request that hangs or eats up the memory, and says so by its exit status alone.
    failed = search.wait() != 0
    printed = (FOUND / "guided.log").read_text(encoding="utf-8", errors="replace")
    covered = re.findall(r"cov: (\d+)", printed)
    if failed or not covered:
        raise SystemExit(printed[-2000:])
    found: dict[str, Any] = json.loads((FOUND / "guided.json").read_text(encoding="utf-8"))
    # The instrumented package is slower: only what is slow without is slow.
    for name, reason in list(found["findings"].items()):
        text = (FOUND / f"{name}.txt").read_bytes().decode("utf-8", "surrogatepass")
        if reason.startswith("slow") and not faults(text):
            del found["findings"][name]
            found["figures"]["broken"] -= 1
            found["figures"]["answered"] += 1
    del found["figures"]["slowest_ms"]
    found["figures"]["branches_first"], found["figures"]["branches_last"] = int(covered[0]), int(covered[-1])
    return found


def main() -> None:
    """Search with both at a time, write the result, fail when something was found."""
    parser = argparse.ArgumentParser(description="Look for requests that break the package.")
    parser.add_argument("--seconds", type=int, default=SHOWN, help="for both searches, side by side")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    FOUND.mkdir(parents=True, exist_ok=True)
    beside = start_guided(options.seconds, options.seed)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    tally = with_hypothesis(options.seconds, options.seed)
    found = with_atheris(beside)
    findings = tally.findings | found["findings"]
    rows = [
        {"search": "hypothesis", "version": importlib.metadata.version("hypothesis"), **tally.figures()},
        {"search": "atheris", "version": importlib.metadata.version("atheris"), **found["figures"]},
    ]
    print(*map(json.dumps, rows), *(f"{name} {reason}" for name, reason in findings.items()), sep="\n")
    limits = {"most_ms": round(1000 * MOST_SECONDS), "most_memory_bytes": MOST_MEMORY}
    limits["corpus"] = len(list(CORPUS.iterdir()))
    if options.seconds >= SHOWN:
        write_result("fuzzing", seed=options.seed, seconds=options.seconds, figures=limits, rows=rows, findings=findings)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
