"""How long one answer takes: `make bench`. Runs in CPython and, with the same text, inside Pyodide.

Every figure is the least of several runs with nothing remembered between them, in milliseconds of processor time, and as a
ratio to the same question about a model of one layer: the cost must not grow with depth.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from gradaccum import api, peaks, training
from gradaccum.catalogue import models

RUNS = 9
REMEMBERED = (training, peaks)
DEEP = "llama-3.1-405b"
QUESTIONS: dict[str, dict[str, Any]] = {
    "training_memory": {"sequence_length": 4096, "micro_batch": 1},
    "training_memory, a GPU": {"sequence_length": 4096, "micro_batch": 1, "gpu": "H100 80GB"},
    "training_memory, checkpointing": {"sequence_length": 4096, "micro_batch": 1, "checkpointing": "full"},
    "training_memory, QLoRA and checkpointing": {
        "sequence_length": 4096,
        "micro_batch": 1,
        "method": "qlora",
        "checkpointing": "full",
    },
    "lora": {"rank": 16, "targets": "all-linear"},
}


def forget() -> None:
    """Empty what answers remember of earlier ones."""
    for module in REMEMBERED:
        for value in vars(module).values():
            if callable(getattr(value, "cache_clear", None)):
                value.cache_clear()


def least(task: Callable[[], object]) -> float:
    """Milliseconds of processor time of the fastest of several runs."""
    times = []
    for _ in range(RUNS):
        forget()
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def asked(calculator: str, inputs: dict[str, Any]) -> Callable[[], object]:
    """A request that was answered once, to be sure that it can be."""
    request = json.dumps({"calculator": calculator, "inputs": inputs})
    answer = json.loads(api.run(request))
    if not answer["ok"]:
        raise SystemExit(f"{request}\n{answer['errors']}")
    return lambda: api.run(request)


def main() -> None:
    """Print the table."""
    deep = models()[DEEP]["config"]
    print(f"Python {sys.version.split()[0]} on {sys.platform}, {DEEP}: the least of {RUNS} runs")
    print(f"{'question':<42}{'ms':>8}{'of one layer':>14}")
    for name, inputs in QUESTIONS.items():
        calculator = name.partition(",")[0]
        whole = least(asked(calculator, inputs | {"config": deep}))
        one = least(asked(calculator, inputs | {"config": deep | {"num_hidden_layers": 1}}))
        print(f"{name:<42}{whole:>8.2f}{whole / one:>13.2f}x")
    choices = {"replicas": 64, "effective_batch": 2**20, "sequence_length": 4096, "gpu": "H100 80GB"}
    task = asked("plan", choices | {"model": "llama-3-70b"})
    print(f"{'plan, llama-3-70b, E = 2^20':<42}{least(task):>8.2f}")


if __name__ == "__main__":
    main()
