"""torchtune's own check of configurations, and what its recipe reads of one: `python -m frameworks.on_torchtune FILE...`.

Prints for each file a JSON line: ``refused``, what the check finds wrong, or null; ``unread``, keys nobody asks for.
"""

import json
import sys
from pathlib import Path

import torchtune
from omegaconf import OmegaConf
from torchtune.config import validate

RECIPE = Path(torchtune.__file__).parents[1] / "recipes" / "full_finetune_distributed.py"


def main() -> None:
    """Check the files named."""
    source = RECIPE.read_text(encoding="utf-8")
    for name in sys.argv[1:]:
        configuration = OmegaConf.load(name)
        unread = [key for key in configuration if f"cfg.{key}" not in source and f'"{key}"' not in source]
        try:
            validate(configuration)
            refused = None
        except Exception as error:  # noqa: BLE001 - whatever it raises is the answer
            refused = str(error)
        print(json.dumps({"refused": refused, "unread": unread}))


if __name__ == "__main__":
    main()
