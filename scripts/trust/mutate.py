"""Whether the tests notice when a formula is changed: mutation testing of the core with mutmut, `make mutate`.

A copy of the package is made below build/mutation, where functions that mutmut leaves alone are turned into ones it takes:
``lru_cache`` is dropped, and a property becomes a function and a property of it. The tests are the quick ones: units, golden
cases, second derivations, recordings of PyTorch for small models, and the docstrings of the unchanged modules.

Survivors that were read and found to change nothing stand in equivalent.json, with the reason.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from paths import BUILD, ROOT
from trust.results import write_result

TREE = BUILD / "mutation"
EQUIVALENT = Path(__file__).with_name("equivalent.json")
BATCHES = ("accumulation", "schedule", "loss", "window")
PLANS = ("units", "divisors", "costs", "planner", "storage")
MODELS = ("adapters", "setting", "comparison", "models", "training", "peaks", "spans", "symbols", "architecture", "activations")
GROUPS = {
    "batches": (BATCHES, BATCHES),
    "plans": (PLANS, PLANS),
    "models": (MODELS, (*MODELS[:-1], "planner", "memory_calculators", "families", "tape")),
    "tape": (
        (
            "layout",
            "graph",
            "tape",
            "operations",
            "products",
            "views",
            "families/parts",
            "families/attention",
            "families/heads",
        ),
        ("layout", "operations", "tape", "families", "symbols", "training"),
    ),
}
"""What is mutated: formulas and the numbers they are read from; models and memory; the tape. Beside each its unit tests."""

EVERYWHERE = ("golden/test_cases.py", "golden/cases.jsonl", "golden/facts.jsonl", "golden/coverage.csv", "derived")
RECORDINGS = {"models": ("oracle",), "tape": ("oracle",)}
PROJECT = """
[tool.pytest]
minversion = "9.0"
addopts = ["--import-mode=importlib", "-p", "no:cacheprovider", "-k", "not 8b and not 1b and not 70b and not vit and not bert"]

[tool.mutmut]
source_paths = ["src"]
only_mutate = {modules}
also_copy = ["original"]
pytest_add_cli_args_test_selection = ["tests"]
timeout_multiplier = 20.0
timeout_constant = 5.0
track_dependencies = false
use_git_change_detection = false
"""
KILLED = {1, 24, 152, 36, -24, 255}
"""Exit codes that say a test failed, or that the mutant never came to an end."""


def main() -> None:
    """Mutate, count, and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), help=f"some of {', '.join(GROUPS)}")
    parser.add_argument("--report", action="store_true", help="count what was found before, without a new run")
    options = parser.parse_args()
    start = time.time()
    for group in () if options.report else options.groups:
        make_tree(group)
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", os.environ.get("JOBS", "1")]
        subprocess.run(command, cwd=TREE / group, check=False)
    report(time.time() - start)


def make_tree(group: str) -> None:
    """Lay out the package, its tests and the settings of both tools."""
    tree = TREE / group
    modules, units = GROUPS[group]
    shutil.rmtree(tree, ignore_errors=True)
    skipped = shutil.ignore_patterns("__pycache__", "torch")
    shutil.copytree(ROOT / "src", tree / "src", ignore=skipped)
    shutil.copytree(ROOT / "src", tree / "original", ignore=skipped)
    for name in (*EVERYWHERE, *RECORDINGS.get(group, ()), *(f"unit/test_{name}.py" for name in units)):
        source, target = ROOT / "tests" / name, tree / "tests" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=skipped)
        elif source.exists():
            shutil.copy(source, target)
    shutil.copy(Path(__file__).with_name("docstrings.py"), tree / "tests" / "test_docstrings.py")
    paths = [f"src/gradaccum/{name}.py" for name in modules]
    for path in paths:
        opened = tree / path
        opened.write_text(undecorated(opened.read_text(encoding="utf-8")), encoding="utf-8")
    (tree / "pyproject.toml").write_text(PROJECT.format(modules=json.dumps(paths)), encoding="utf-8")


def undecorated(text: str) -> str:
    r"""The same module with plain functions where mutmut would leave a decorated one alone.

    >>> print(undecorated("class A:\n    @property\n    def peak(self):\n        return 1\n"))
    class A:
        def _of_peak(self):
            return 1
        peak = property(_of_peak)
    <BLANKLINE>
    """
    lines = re.sub(r"^@lru_cache\(.*\)\n", "", text, flags=re.MULTILINE).split("\n")
    tree = ast.parse("\n".join(lines))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.decorator_list]
    for node in sorted(found, key=lambda node: -node.lineno):
        decorator = node.decorator_list[0]
        if isinstance(decorator, ast.Name) and decorator.id in {"property", "cached_property"} and node.end_lineno:
            blank = " " * node.col_offset
            lines.insert(node.end_lineno, f"{blank}{node.name} = property(_of_{node.name})")
            lines[node.lineno - 1] = lines[node.lineno - 1].replace(f"def {node.name}(", f"def _of_{node.name}(")
            del lines[decorator.lineno - 1]
    return "\n".join(lines)


def outcomes() -> dict[str, dict[str, int | None]]:
    """By module, the exit code of every mutant."""
    found = {}
    for meta in sorted(TREE.glob("*/mutants/src/gradaccum/**/*.py.meta")):
        name = str(meta).partition("mutants/src/gradaccum/")[2].removesuffix(".py.meta")
        codes: dict[str, int | None] = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
        if codes:
            found[name] = codes
    return found


def report(seconds: float) -> None:
    """Count what was killed, name what was not."""
    argued = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    survivors = []
    for module, codes in outcomes().items():
        alive = [name for name, code in codes.items() if code not in KILLED]
        open_ones = [name for name in alive if name not in argued]
        survivors += open_ones
        rows.append(
            {"module": module, "mutants": len(codes), "killed": len(codes) - len(alive)}
            | {"argued": len(alive) - len(open_ones), "open": len(open_ones)}
        )
        print(f"{module:<30}{len(codes):>6}{len(codes) - len(alive):>6}{len(open_ones):>6}")
    total, killed = (sum(row[key] for row in rows) for key in ("mutants", "killed"))
    print(*survivors, sep="\n")
    print(f"{killed} of {total} killed, {killed / total:.2%}; {total - killed - len(survivors)} argued, {len(survivors)} open")
    figures = {"mutants": total, "killed": killed, "argued": total - killed - len(survivors), "open": len(survivors)}
    write_result("mutation", seed=None, seconds=round(seconds), figures=figures, rows=rows)


if __name__ == "__main__":
    main()
