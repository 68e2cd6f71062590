"""The examples of the unchanged docstrings, as tests of their own, on the package that is imported."""

import ast
import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ORIGINAL = Path("original")


def examples() -> Iterator[Any]:
    for path in sorted((ORIGINAL / "gradaccum").rglob("*.py")):
        name = ".".join(path.relative_to(ORIGINAL).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ">>>" in (ast.get_docstring(node) or ""):
                yield pytest.param(name, ast.get_docstring(node), id=f"{name}.{node.name}")


# A list: an iterator is empty when the module, still imported, is collected once more for the next mutant.
@pytest.mark.parametrize("module, text", list(examples()))
def test_docstring(module: str, text: str) -> None:
    names = dict(vars(importlib.import_module(module)))
    test = doctest.DocTestParser().get_doctest(text, names, module, None, 0)
    assert doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None).failed == 0
