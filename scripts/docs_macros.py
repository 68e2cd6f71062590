"""The macros of the pages: every number on a page comes through one of them.

``mkdocs.yml`` sets the delimiters: ``[= size("0.5 GB") =]``. A macro that cannot answer raises, and the build stops.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

# The macros plugin loads this file by its path, so its neighbours are not importable by themselves.
sys.path.insert(0, str(Path(__file__).resolve().parent))

import note_links
from evidence import single, tables
from gradaccum import figures, units
from gradaccum.messages import LANGUAGES, catalogue
from gradaccum.validation import MOST_CELLS
from page_parts import (
    answers,
    benchmark,
    calculator,
    computed,
    dry_run,
    frameworks,
    glossary,
    licences,
    pictures,
    published,
    quiz,
    reference,
    reliability,
    site,
)
from page_parts.markup import left_to_right

# What stands between the parts of an enumeration, and before its last.
ENUMERATION = {"ar": ("، ", " و"), "en": (", ", " and ")}


def define_env(env: Any) -> None:
    """Register the macros for the language of the site that is being built."""
    language: str = env.conf["theme"]["language"]
    if language not in LANGUAGES:
        raise answers.PageError(f"the package speaks {', '.join(LANGUAGES)}, not {language!r}")
    words = {key: message for key, message in catalogue(language).items() if key.startswith("ui.")}
    env.conf["extra"]["page_words"] = words | note_links.page_words()
    for name, macro in macros(language).items():
        env.macro(macro, name)


def on_pre_page_macros(env: Any) -> None:
    """Make the description of a page safe: the theme puts it between quotes in the head as it stands."""
    if "description" in env.page.meta:
        env.page.meta["description"] = escape(env.page.meta["description"])


def macros(language: str) -> dict[str, Any]:
    """Every macro by name, for one language."""

    def picture(name: str, kind: str, *, stepper: bool = False, inputs: dict[str, Any] | None = None) -> str:
        return pictures.picture_html(name, kind, language, stepper=stepper, inputs=inputs)

    def out(name: str, output: str, **inputs: object) -> str:
        # The cells of a table, which stand in a sentence here.
        *cells, last = answers.output_text(name, output, language, inputs).replace("\n", "  ").split("  ")
        comma, conjunction = ENUMERATION[language]
        return conjunction.join(filter(None, (comma.join(map(left_to_right, cells)), left_to_right(last))))

    def exact(name: str, output: str, **inputs: object) -> str:
        return left_to_right(answers.exact_text(name, output, language, inputs))

    def phase(name: str, part: str, **inputs: object) -> str:
        return left_to_right(answers.phase_text(name, part, language, inputs))

    def kept(slot: str, *, exact: bool = False, **inputs: object) -> str:
        return left_to_right(answers.kept_text(slot, language, inputs, exact=exact))

    def example(name: str, field: str) -> str:
        return left_to_right(answers.calculator_named(name).field(field).example)

    def steps(name: str, **inputs: object) -> str:
        return calculator.steps_html(answers.ask(name, language, inputs)["steps"])

    def size(text: str | int) -> str:
        return left_to_right(figures.format_size(units.read_size(text, "size"), units.system_of(units.typed_unit(text))))

    def number(value: float | str) -> str:
        exact = units.read_number(value, "number", allow_zero=True)
        return left_to_right(figures.format_count(int(exact)) if exact.denominator == 1 else figures.format_grouped(exact))

    return {
        "calculator": lambda name: calculator.calculator_html(name, language),
        "picture": picture,
        "out": out,
        "exact": exact,
        "phase": phase,
        "kept": kept,
        "example": example,
        "default": lambda name, field: int(answers.calculator_named(name).field(field).default),
        "ran": lambda name, function, *arguments, digits=3: left_to_right(
            computed.ran_text(name, function, *arguments, digits=digits)
        ),
        "steps": steps,
        "size": size,
        "size_in": lambda count, unit, places=2: left_to_right(
            f"{figures.format_decimal(Fraction(count, units.UNITS[unit]), places)} {unit}"
        ),
        "number": number,
        "rounded": lambda value, places: left_to_right(figures.format_decimal(Fraction(value), places)),
        "published": lambda name, figure: (size if published.has_unit(name, figure) else number)(published.text(name, figure)),
        "value": published.value,
        "timings": published.timings,
        "ln": math.log,
        "most_cells": MOST_CELLS,
        "fields": lambda name: reference.fields_html(name, language),
        "outputs": lambda name: reference.outputs_html(name, language),
        "questions": lambda name: reference.questions_html(name, language),
        "cli_help": lambda name: reference.cli_help(name, language),
        "request_example": lambda name: reference.request_example(name, language),
        "address": lambda name, **inputs: reference.address(name, language, inputs),
        "command": lambda name, **inputs: reference.command_block(name, language, inputs),
        "snippet": reference.snippet,
        "tabs": reference.snippet_tabs,
        "evidence": lambda name: left_to_right(single.figure(name)),
        "evidence_summary": lambda: tables.summaries(language),
        "evidence_rows": lambda group: tables.published(group, language),
        "evidence_words": lambda kind: tables.whys(kind, language),
        "oracle_summary": lambda: tables.oracle_summary(language),
        "oracle_cells": lambda: tables.oracle_cells(language),
        "other_calculators": lambda: tables.others(language),
        "claims": lambda: benchmark.claims(language),
        "claim": lambda name: benchmark.claim(name, language),
        "claim_figure": benchmark.figure,
        "claim_plot": lambda name: benchmark.plot(name, language),
        "claim_peaks": lambda: benchmark.peaks(language),
        "benchmark_runs": lambda: benchmark.runs(language),
        "dry_run_command": dry_run.command_html,
        "dry_run_result": lambda: dry_run.result_html(language),
        "dry_run_picture": lambda: dry_run.picture_html(language),
        "dry_run_figure": dry_run.figure_html,
        "dry_run_plan": dry_run.plan,
        "framework_matrix": lambda: frameworks.matrix_html(language),
        "recipe": lambda framework, **inputs: reference.recipe_blocks(framework, language, inputs),
        "licences": licences.rows,
        "reliability": reliability.figure,
        "reliability_table": lambda measure: reliability.table(measure, language),
        "site_table": lambda part: site.table(part, language),
        "site_goal": site.goal,
        "site_snapshot": site.snapshot,
        "site_typing": site.typing,
        "site_missed": lambda part: site.missed(part, language),
        "quiz_score": lambda questions: quiz.score_html(questions, language),
        "glossary": lambda group: glossary.glossary_list(group, language),
    }
