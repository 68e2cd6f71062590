"""Numbers that a snippet of the page itself works out: the code that is shown is the code that ran."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from types import ModuleType

from gradaccum import figures
from page_parts.answers import PageError
from page_parts.reference import SNIPPETS


@lru_cache
def module_of(name: str) -> ModuleType:
    """The snippet, imported. It must need nothing but the standard library, as the site is built without PyTorch."""
    path = SNIPPETS / name
    specification = importlib.util.spec_from_file_location(f"snippet_{path.stem}", path)
    if specification is None or specification.loader is None or not path.is_file():
        raise PageError(f"no snippet {name!r} in docs/snippets that can be imported")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def ran_text(name: str, function: str, *arguments: object, digits: int) -> str:
    """What a function of the snippet returns, to that many significant digits; one part of it where it returns several.

    ``function`` may end in ``[0]``, ``[1]``, …: that part.
    """
    called, _, part = function.partition("[")
    found = getattr(module_of(name), called, None)
    if not callable(found):
        raise PageError(f"snippet {name!r} has no function {called!r}")
    value = found(*arguments)
    return figures.format_grouped(value[int(part.rstrip("]"))] if part else value, digits)
