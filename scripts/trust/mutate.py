"""Whether the tests notice when a formula is changed: mutation testing of the core, `make mutate`.

mutmut writes the mutants. A copy of the package is made below build/mutation in which its decorator is exchanged for that of
``meet_mutants``, and where a property or a function that remembers becomes a plain function and an assignment, since mutmut
leaves decorated ones alone. The tests are the quick ones: units, golden cases, second derivations, recordings of PyTorch for
small models, and the docstrings of the unchanged modules.

Survivors that were read and found to change nothing stand in equivalent.json, with the reason, under the changed lines.
"""

import argparse
import ast
import difflib
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

from mutmut.mutation.file_mutation import mutate_file_contents

from paths import BUILD, RELIABILITY, ROOT
from trust.meet_mutants import FITS_NOT, KILLED
from trust.results import source, write_result

TREE = BUILD / "mutation"
EQUIVALENT = Path(__file__).with_name("equivalent.json")
RECORD = RELIABILITY / "mutation.json"
COUNTED = ("mutants", "met", "killed", "argued", "open")
BATCHES = ("accumulation", "schedule", "loss", "window")
PLANS = ("units", "divisors", "costs", "planner", "storage")
MODELS = ("adapters", "setting", "comparison", "models", "training", "peaks", "spans", "symbols", "architecture", "activations")
GROUPS = {
    "batches": (BATCHES, BATCHES),
    "plans": (PLANS, (*PLANS, "plan_calculator")),
    "models": (MODELS, (*MODELS, "planner", "memory_calculators", "families", "tape", "each_operation", "ledger_names")),
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
        (
            "layout",
            "operations",
            "each_operation",
            "kernels",
            "tape",
            "families",
            "symbols",
            "training",
            "ledger_names",
            "ledger",
        ),
    ),
}
"""What is mutated: formulas and the numbers they are read from; models and memory; the tape. Beside each its unit tests."""

EVERYWHERE = (
    "golden/test_cases.py",
    "golden/cases.jsonl",
    "golden/derived.jsonl",
    "golden/facts.jsonl",
    "golden/coverage.csv",
    "derived",
)
CELLS_OF_A_MODEL = 3
"""Of each recorded model so many cells, drawn by chance, meet the mutants of ``RECORDED``."""
RECORDED = {"models", "tape"}
OF_THE_TAPE = ("oracle", "properties/test_segments.py")
MOST = {"plans": 60, "models": 20, "tape": 20}
"""Of a module of these groups at most so many mutants, drawn by chance; of all others every one."""
DECORATOR = "from mutmut.mutation.trampoline import wrap_in_trampoline as _mutmut_mutated, MutantDict\n"
PROJECT = """
[tool.pytest]
minversion = "9.0"
addopts = ["--import-mode=importlib", "-p", "no:cacheprovider", "-s", "-p", "no:terminal", "-p", "trust.meet_mutants"]
"""


def main() -> None:
    """Mutate, count, and write the result file once every group has been looked at."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("groups", nargs="*", help=f"some of {', '.join(GROUPS)}")
    parser.add_argument("--report", action="store_true", help="count what was found before, without a new run")
    parser.add_argument("--all", action="store_true", help="meet every mutant, and not a sample of the larger groups")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for group in () if options.report else options.groups or GROUPS:
        write_tree(group, options.seed, 10**9 if options.all else MOST.get(group, 10**9))
        subprocess.run([sys.executable, "-m", "pytest", "tests"], cwd=TREE / group, check=True, env=environment())
        (TREE / group / "about.json").write_text(json.dumps({"seed": options.seed, "source": source()}), encoding="utf-8")
    report()


def environment() -> dict[str, str]:
    """The copy of the package in place of the package."""
    return {"PYTHONPATH": f"src:{ROOT / 'scripts'}", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}


def write_tree(group: str, seed: int, most: int) -> None:
    """Lay out the package with its mutants, the tests, and which mutants are to meet them."""
    tree = TREE / group
    modules, units = GROUPS[group]
    shutil.rmtree(tree, ignore_errors=True)
    # None of the mutated modules is what the experiments compute with.
    skipped = shutil.ignore_patterns("__pycache__", "torch", "test_experiments.py")
    for name in ("src", "original"):
        shutil.copytree(ROOT / "src", tree / name, ignore=skipped)
    for name in (*EVERYWHERE, *(OF_THE_TAPE if group in RECORDED else ()), *(f"unit/test_{name}.py" for name in units)):
        source, target = ROOT / "tests" / name, tree / "tests" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=skipped)
        elif source.exists():
            shutil.copy(source, target)
    for path in (tree / "tests" / "oracle").glob("recording*/*.json"):
        path.write_text(json.dumps(fewer_cells(json.loads(path.read_text(encoding="utf-8")), seed)), encoding="utf-8")
    shutil.copy(Path(__file__).with_name("docstrings.py"), tree / "tests" / "test_docstrings.py")
    (tree / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    found = {name: write_mutants(tree, name) for name in modules}
    chosen = [Random(f"{seed} {name}").sample(sorted(m), min(most, len(m))) for name, m in found.items()]
    (tree / "task.json").write_text(json.dumps([m for names in chosen for m in names]), encoding="utf-8")
    (tree / "changes.json").write_text(json.dumps({k: v for m in found.values() for k, v in m.items()}), encoding="utf-8")


def fewer_cells(recording: dict[str, Any], seed: int) -> dict[str, Any]:
    """A recording with some of its settings, of small models alone."""
    small = [model for model in recording["models"] if model["name"].startswith("tiny")]
    for model in small:
        model["cells"] = Random(seed).sample(model["cells"], min(CELLS_OF_A_MODEL, len(model["cells"])))
    return recording | {"models": small}


def write_mutants(tree: Path, name: str) -> dict[str, str]:
    """Write a module with its mutants beside its functions; what each of them changes, by its name."""
    path, dotted = tree / "src" / "gradaccum" / f"{name}.py", f"gradaccum.{name.replace('/', '.')}"
    made = mutate_file_contents(str(path), undecorated(path.read_text(encoding="utf-8")))
    code = made.code.replace(DECORATOR, "from trust.meet_mutants import mutated as _mutmut_mutated\nMutantDict = dict\n")
    pattern = re.compile(r"@_mutmut_mutated\(mutants_(\S+)__mutmut(, .*)?\)")
    code = pattern.sub(rf'@_mutmut_mutated("{dotted}", "\1", mutants_\1__mutmut)', code)
    path.write_text(code, encoding="utf-8")
    lines = code.split("\n")
    defined = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
    sources = {node.name: lines[node.lineno - 1 : node.end_lineno] for node in defined}
    return {
        f"{dotted}.{mutant}": change(sources[f"{mutant.rpartition('_')[0]}_orig"], sources[mutant])
        for mutant in made.mutant_names
    }


def change(original: list[str], mutant: list[str]) -> str:
    """The lines that differ, apart from the name of the function.

    >>> change(["def x_f__mutmut_orig(a):", "    return 1"], ["def x_f__mutmut_1(a):", "    return 2"])
    'return 1 -> return 2'
    """
    before, after = ([re.sub(r"__mutmut_\w+", "", line).strip() for line in lines] for lines in (original, mutant))
    parts = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    removed = [line for kind, start, end, _, _ in parts if kind != "equal" for line in before[start:end]]
    added = [line for kind, _, _, start, end in parts if kind != "equal" for line in after[start:end]]
    return f"{' '.join(removed)} -> {' '.join(added)}"


def undecorated(text: str) -> str:
    r"""The same module with plain functions where mutmut would leave a decorated one alone.

    >>> print(undecorated("class A:\n    @property\n    def peak(self):\n        return 1\n"))
    class A:
        def _of_peak(self):
            return 1
        peak = property(_of_peak)
    <BLANKLINE>
    >>> print(undecorated("@lru_cache(maxsize=9)\ndef f(a):\n    return a\n"))
    def _of_f(a):
        return a
    f = lru_cache(maxsize=9)(_of_f)
    <BLANKLINE>
    """
    lines, tree = text.split("\n"), ast.parse(text)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and len(node.decorator_list) == 1]
    for node in sorted(found, key=lambda node: -node.lineno):
        decorator = node.decorator_list[0]
        wrapper = ast.unparse(decorator)
        if wrapper.partition("(")[0] in {"property", "cached_property", "lru_cache"} and node.end_lineno:
            wrapper = "property" if wrapper == "cached_property" else wrapper
            blank = " " * node.col_offset
            lines.insert(node.end_lineno, f"{blank}{node.name} = {wrapper}(_of_{node.name})")
            lines[node.lineno - 1] = lines[node.lineno - 1].replace(f"def {node.name}(", f"def _of_{node.name}(", 1)
            del lines[decorator.lineno - 1]
    return "\n".join(lines)


def function_of(mutant: str) -> str:
    """The function that a mutant changes, as the source names it.

    >>> function_of("gradaccum.tape.xǁTapeǁ_of_live__mutmut_3"), function_of("gradaccum.loss.x__pairs__mutmut_6")
    ('gradaccum.tape.Tape.live', 'gradaccum.loss._pairs')
    """
    module, _, name = mutant.rpartition("__mutmut_")[0].rpartition(".")
    inner = name.removeprefix("x").removeprefix("ǁ").replace("ǁ", ".")
    inner = inner if name.startswith("xǁ") else inner.removeprefix("_")
    return module + "." + re.sub(r"(^|\.)_of_", r"\1", inner)


def report() -> None:
    """Count what was killed, name what was not, and write it down; a group not run now stands as it was recorded before."""
    argued: dict[str, dict[str, str]] = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    before = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"rows": []}
    rows: list[dict[str, Any]] = []
    for group, (modules, _) in GROUPS.items():
        tree = TREE / group
        if not (tree / "about.json").exists():
            rows += [{key: before[key] for key in ("seed", "source")} | row for row in before["rows"] if row["group"] == group]
            continue
        about = json.loads((tree / "about.json").read_text(encoding="utf-8"))
        changes, found = (json.loads((tree / name).read_text(encoding="utf-8")) for name in ("changes.json", "found.json"))
        rows += [about | row_of(group, module, changes, found, argued) for module in modules]
    total = {key: sum(row[key] for row in rows) for key in COUNTED}
    print(total)
    if {row["group"] for row in rows} == set(GROUPS):
        of_groups = {
            f"{group}_{key}": sum(row[key] for row in rows if row["group"] == group) for group in GROUPS for key in COUNTED
        }
        of_groups |= {f"{row['group']}_seed": row["seed"] for row in rows}
        tools = {"mutmut": importlib.metadata.version("mutmut"), "cells_of_a_model": CELLS_OF_A_MODEL}
        write_result("mutation", seed=rows[0]["seed"], **tools, figures=total | of_groups, rows=rows)


def row_of(
    group: str, module: str, changes: dict[str, str], found: dict[str, dict[str, Any]], argued: dict[str, dict[str, str]]
) -> dict[str, Any]:
    """What became of a module's mutants; the open ones are printed."""
    prefix = f"gradaccum.{module.replace('/', '.')}.x"
    every = [mutant for mutant in changes if mutant.startswith(prefix)]
    met = [mutant for mutant in every if mutant in found and found[mutant]["outcome"] != FITS_NOT]
    alive = [mutant for mutant in met if found[mutant]["outcome"] != KILLED]
    left = [mutant for mutant in alive if changes[mutant] not in argued.get(function_of(mutant), {})]
    for mutant in left:
        print(f"{function_of(mutant)}: {changes[mutant]}")
    counts = {"mutants": len(every), "met": len(met), "killed": len(met) - len(alive)}
    return {"group": group, "module": module} | counts | {"argued": len(alive) - len(left), "open": len(left)}


if __name__ == "__main__":
    main()
