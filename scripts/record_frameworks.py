"""Run every probe of ``frameworks`` and write what was seen into docs/data/frameworks.json, with versions.

Run it in the environment of ``make verify``, which holds what was written against a fresh run. What a CPU cannot show was read
in the source of the version named, and says so.
"""

import importlib.metadata
import json

from frameworks import probes, reductions, toy
from paths import DOCS

# Column by column: the word for what was found, from the words that the page knows.
READ = {
    "fsdp2": {
        "package": "torch",
        "source": "torch/distributed/fsdp/_fully_shard",
        "divides": "nothing",
        "tokens": "no",
        "last_window": "yours",
        "schedule": "yours",
        "buffer": "reduce_dtype",
    },
    "torchtune": {
        "version": "0.6.1",
        "source": "recipes/full_finetune_distributed.py",
        "divides": "targets",
        "tokens": "yes",
        "last_window": "into_next",
        "schedule": "updates",
        "reductions": "every",
        "buffer": "weights",
    },
    "deepspeed": {"package": "deepspeed", "source": "deepspeed/runtime/engine.py", "reductions": "by_stage"},
    "keras": {"package": "keras", "source": "keras/src/optimizers/base_optimizer.py", "reductions": "compiled"},
    "optax": {"package": "optax", "source": "optax/transforms/_accumulation.py", "reductions": "compiled"},
}


def recorded() -> dict[str, object]:
    """Everything the file holds."""
    read = {
        name: {"version": importlib.metadata.version(row["package"]).partition("+")[0], **row} if "package" in row else row
        for name, row in READ.items()
    }
    return {
        "steps": toy.STEPS,
        "probes": {name: probes.run(name) for name in probes.PROBES},
        "reductions": reductions.counted(),
        "read": read,
    }


if __name__ == "__main__":
    target = DOCS / "data" / "frameworks.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(recorded(), indent=1) + "\n", encoding="utf-8")
    print(target)
