"""The small language that the recipes' templates are written in.

A line ``%if name !other`` keeps what follows when the setting is on and the other off; ``%else`` and ``%end`` belong to it and
may be nested. ``%include name`` puts another template in its place, ``{{name}}`` a value. A comment line ``# [[key]]`` becomes
the message ``recipe.key`` in the reader's language, folded to the width of a screen.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from gradaccum.messages import text

WIDTH = 100
_VALUE = re.compile(r"\{\{(\w+)\}\}")
_COMMENT = re.compile(r"(?P<mark>\s*# )\[\[(?P<key>\w+)\]\]")


def render(name: str, settings: frozenset[str], values: Mapping[str, object], language: str) -> str:
    """The text of a template: its lines whose conditions hold, with values and comments put in.

    ``settings`` are the names that are on, ``values`` what ``{{name}}`` stands for.
    Errors: ``KeyError`` for a value or message that is not there, ``FileNotFoundError`` for a template.

    >>> print(render("launch", frozenset({"many", "torchrun"}), {"replicas": 2}, "en"), end="")
    # One process per replica. On several machines: --nnodes, and here the replicas of one machine.
    torchrun --nproc-per-node 2 train.py
    """
    lines = []
    for line in _chosen(source(name), settings):
        comment = _COMMENT.fullmatch(line)
        if comment:
            words = text(f"recipe.{comment['key']}", language)
            mark = comment["mark"]
            lines += textwrap.wrap(words, WIDTH, initial_indent=mark, subsequent_indent=mark, break_long_words=False)
        else:
            lines.append(_VALUE.sub(lambda value: str(values[value[1]]), line))
    return "\n".join(lines) + "\n"


@cache
def source(name: str) -> str:
    """The template as it is written."""
    return files(__package__).joinpath("templates", f"{name}.template").read_text(encoding="utf-8")


def _chosen(template: str, settings: frozenset[str]) -> Iterator[str]:
    """The lines whose every enclosing condition holds."""
    open_conditions: list[bool] = []
    for line in template.splitlines():
        word, _, rest = line.partition(" ")
        if word == "%if":
            open_conditions.append(all((name.lstrip("!") in settings) is not name.startswith("!") for name in rest.split()))
        elif word == "%else":
            open_conditions[-1] = not open_conditions[-1]
        elif word == "%end":
            open_conditions.pop()
        elif all(open_conditions):
            if word == "%include":
                yield from _chosen(source(rest), settings)
            else:
                yield line
