"""The guided search, in a process of its own: the package is imported instrumented, and libFuzzer ends the process itself.

guided.py SECONDS SEED
"""

import json
import sys
import time

import atheris

with atheris.instrument_imports(include=["gradaccum"]):
    from trust import fuzz


def main(seconds: str, seed: str) -> None:
    """Ask until the time is over, and write the tally down every second and at each finding."""
    tally, last = fuzz.Tally(), [0.0]

    def one(data: bytes) -> None:
        known = len(tally.findings)
        tally.take(fuzz.text_of(data))
        if len(tally.findings) > known or time.monotonic() - last[0] > 1:
            last[0] = time.monotonic()
            told = {"figures": tally.figures(), "findings": tally.findings}
            (fuzz.FOUND / "guided.json").write_text(json.dumps(told), encoding="utf-8")

    limits = ["-max_len=4096", "-timeout=60", f"-rss_limit_mb={fuzz.MOST_MEMORY >> 20}"]
    folder = str(fuzz.FOUND / "corpus")
    atheris.Setup([sys.argv[0], folder, f"-max_total_time={seconds}", f"-seed={seed}", *limits], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
