"""Reference tables and examples, made from the declarations and by the package itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from gradaccum import jsontext
from gradaccum.api import run
from gradaccum.calculators import Calculator, Field
from gradaccum.messages import choice_text
from gradaccum.view import field_words
from page_parts.answers import PageError, ask, calculator_named, starting_inputs, word
from page_parts.markup import code_block, formula, tag, text
from paths import ROOT

SNIPPETS = ROOT / "docs" / "snippets"
LANGUAGE_OF = {".py": "python", ".sh": "sh", ".json": "json", ".yml": "yaml", ".yaml": "yaml", ".toml": "toml"}
HELP_WIDTH = "88"


def table_html(heads: list[str], rows: list[list[str]], language: str) -> str:
    """A table; the theme gives it a box of its own to scroll in."""
    head = tag("tr", *(tag("th", text(word(f"ui.{key}", language)), scope="col") for key in heads))
    body = [tag("tr", *(tag("td", cell) for cell in row)) for row in rows]
    return tag("table", tag("thead", head), tag("tbody", *body))


def code(value: object) -> str:
    """A name or a value as the reader would type it."""
    return tag("code", text(value), dir="ltr")


def fields_html(name: str, language: str) -> str:
    """What a request may hold."""
    declared = calculator_named(name)
    rows = [
        [
            code(field.name),
            formula(field.symbol) if field.symbol else "",
            meaning_html(declared, field, language),
            text(word(f"kind.{field.kind}", language)),
            default_html(field, language),
        ]
        for field in declared.fields
    ]
    return table_html(["name", "symbol", "meaning", "kind", "default"], rows, language)


def meaning_html(declared: Calculator, field: Field, language: str) -> str:
    """Label, help, and the choices where there are some."""
    parts = [text(field_words(declared, field, "label", language)), ": ", text(field_words(declared, field, "help", language))]
    explained = [(choice, choice_text(field.name, choice, language)) for choice in field.choices]
    parts += [tag("br") + code(choice) + f" {text(meaning)}" for choice, meaning in explained if meaning != choice]
    # Names that stand for themselves, such as those of devices: many, so in one line.
    names = [code(choice) for choice, meaning in explained if meaning == choice]
    parts += [tag("br"), ", ".join(names)] if names else []
    return "".join(parts)


def default_html(field: Field, language: str) -> str:
    """The value a request without the field means."""
    if field.required:
        return text(word("ui.required", language))
    return text(word("ui.optional", language)) if field.default is None else code(jsontext.dumps(field.default))


def outputs_html(name: str, language: str) -> str:
    """What a response may hold."""
    rows = [
        [
            code(output.name),
            formula(output.symbol) if output.symbol else "",
            text(word(f"output.{output.name}.label", language)),
            text(word(f"kind.{output.kind}", language)),
        ]
        for output in calculator_named(name).outputs
    ]
    return table_html(["name", "symbol", "meaning", "kind"], rows, language)


def questions_html(name: str, language: str) -> str:
    """The questions of a calculator that answers several, and what a request for each may hold beside its name."""
    rows = [
        [code(topic), text(word(f"{one.stem}.title", language)), ", ".join(code(field.name) for field in one.fields[1:])]
        for topic, one in calculator_named(name).variants.items()
    ]
    return table_html(["name", "meaning", "fields"], rows, language)


@lru_cache
def cli_help(name: str, language: str) -> str:
    """The help that the command prints, in the page's language."""
    command = ["gradaccum", name.replace("_", "-"), "--lang", language, "--help"]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": HELP_WIDTH, "PYTHONUTF8": "1", "NO_COLOR": "1"},
        check=False,
    )
    if done.returncode:
        raise PageError(f"{' '.join(command)} failed: {done.stdout}{done.stderr}")
    return code_block(done.stdout, "text", " ".join(command))


def request_example(name: str, language: str) -> str:
    """A request with the form's starting values, and the response that ``run`` gives to it."""
    numbers = {field.name for field in calculator_named(name).fields if field.kind == "count"}
    inputs = {key: int(str(value)) if key in numbers else value for key, value in starting_inputs(name).items()}
    request = {"calculator": calculator_named(name).name, "inputs": inputs, "language": language}
    response = json.loads(run(json.dumps(request)))
    if not response["ok"]:
        raise PageError(f"{name} refused its own starting values: {response['errors']}")
    return "\n\n".join(
        code_block(json.dumps(part, ensure_ascii=False, indent=2), "json", word(f"ui.{key}", language))
        for key, part in (("request", request), ("response", response))
    )


def address(name: str, language: str, inputs: dict[str, Any]) -> str:
    """What a link to the page's calculator holds behind its ``#``; the calculator must accept it."""
    ask(name, language, inputs)
    return "#" + urlencode(inputs)


def command_block(name: str, language: str, inputs: dict[str, Any]) -> str:
    """The command line that gives the same answer."""
    return code_block(str(ask(name, language, inputs)["view"]["command"]), "sh")


def snippet(name: str) -> str:
    """A tested file as a code block."""
    path = SNIPPETS / name
    if path.parent != SNIPPETS or not path.is_file():
        raise PageError(f"no snippet {name!r} in docs/snippets")
    return code_block(path.read_text(encoding="utf-8"), LANGUAGE_OF.get(Path(name).suffix, "text"), name)


def snippet_tabs(files: dict[str, str]) -> str:
    """Tested files behind tabs, by the name of each tab."""
    tabs = []
    for name, file in files.items():
        block = "\n".join(f"    {line}" if line else "" for line in snippet(file).splitlines())
        tabs.append(f'=== "{name}"\n\n{block}')
    return "\n\n".join(tabs)


def recipe_blocks(framework: str, language: str, inputs: dict[str, Any]) -> str:
    """The files of a recipe as code blocks, each named."""
    files = ask("recipe", language, {"framework": framework, **inputs})["outputs"]["files"]
    return "\n\n".join(code_block(file["text"], file["language"], file["name"]) for file in files)
