"""The dry run from Python: ``gradaccum.torch.dry_run``. Importing this imports no torch; its process does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradaccum import dryrun, jsontext

__all__ = ["dry_run"]


def dry_run(source: str | Callable[..., Any], *, language: str = "en", **options: Any) -> dict[str, Any]:
    """One window and two updates of a model on shapes only; the response is that of ``gradaccum dry-run --json``.

    ``source``: the path of a ``config.json``, ``"package.module:function"``, or that function itself, which then has to be
    importable by its name: it runs in a process of its own.
    ``options``: ``micro_batch``, ``sequence_length``, ``accumulation_steps``, ``precision``, ``attention``, ``checkpointing``,
    ``optimizer``, ``foreach``, ``rank``, ``targets``, ``device``, ``plot``.
    Errors are in the response, ``{"ok": false, "errors": [...]}``, as in the request contract.
    """
    name = f"{source.__module__}:{source.__qualname__}" if callable(source) else source
    request = {"calculator": dryrun.CALCULATOR.name, "inputs": {"source": name, **options}, "language": language}
    response: dict[str, Any] = jsontext.loads(dryrun.respond(jsontext.dumps(request)))
    return response
