"""How long one answer takes: `make bench`. Runs in CPython and, with the same text, inside Pyodide.

Every figure is the least of several rounds with nothing remembered between them, in milliseconds of processor time, and as a
ratio to the same question about a model of one layer: the cost must not grow with depth. A round asks every question once,
since what slows a machine down lasts longer than one answer.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from gradaccum import api, peaks, training
from gradaccum.catalogue import models

ROUNDS = 15
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


def least(tasks: dict[Any, Callable[[], object]]) -> dict[Any, float]:
    """Milliseconds of processor time of each task in its fastest round."""
    times: dict[Any, list[float]] = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            forget()
            start = time.process_time()
            task()
            times[name].append(time.process_time() - start)
    return {name: 1000 * min(taken) for name, taken in times.items()}


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
    tasks: dict[Any, Callable[[], object]] = {}
    for name, inputs in QUESTIONS.items():
        calculator = name.partition(",")[0]
        tasks[name, DEEP] = asked(calculator, inputs | {"config": deep})
        tasks[name, "one layer"] = asked(calculator, inputs | {"config": deep | {"num_hidden_layers": 1}})
    choices = {"replicas": 64, "effective_batch": 2**20, "sequence_length": 4096, "gpu": "H100 80GB"}
    tasks["plan"] = asked("plan", choices | {"model": "llama-3-70b"})
    times = least(tasks)
    print(f"Python {sys.version.split()[0]} on {sys.platform}, {DEEP}: the least of {ROUNDS} rounds")
    print(f"{'question':<42}{'ms':>8}{'of one layer':>14}")
    for name in QUESTIONS:
        print(f"{name:<42}{times[name, DEEP]:>8.2f}{times[name, DEEP] / times[name, 'one layer']:>13.2f}x")
    print(f"{'plan, llama-3-70b, E = 2^20':<42}{times['plan']:>8.2f}")


if __name__ == "__main__":
    main()
