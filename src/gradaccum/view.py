"""An answer as a person sees it: figures with units, the result as text, the command that gives it, data to draw."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from gradaccum import drawing, figures, jsontext, tables, units
from gradaccum.calculators.declaration import Answer, Calculator, Field, FieldKind, Output, OutputKind, Values
from gradaccum.messages import has, text
from gradaccum.pictures import PICTURES
from gradaccum.wording import sentence


def view(calculator: Calculator, values: Values, answer: Answer, language: str, entered: dict[str, Any]) -> dict[str, Any]:
    """Everything a face shows beside the bare answer; see the request contract for its shape."""
    outputs = [_output(output, answer, language) for output in calculator.outputs if output.name in answer.outputs]
    return {
        "outputs": outputs,
        "inputs": {f.name: field_text(f, values | answer.derived, values) for f in calculator.fields if f.name in values},
        "text": as_text(calculator, outputs, answer, language),
        "command": command(calculator, entered),
        "pictures": _pictures(calculator, values, answer, language),
    }


def steps(answer: Answer, language: str) -> list[dict[str, str]]:
    """The worked example: a formula with the reader's numbers, and what it says."""
    return [{"tex": step.tex, "text": text(f"step.{step.key}", language, **step.values)} for step in answer.steps]


def notes(answer: Answer, language: str) -> list[dict[str, str]]:
    """The warnings, in words."""
    return [{"code": n.code, "message": sentence(f"note.{n.code}", n.values, language)} for n in answer.notes]


def field_words(calculator: Calculator, field: Field, part: str, language: str) -> str:
    """The label or help of a field, which one question of a calculator may word in its own way."""
    own = f"field.{calculator.topic}.{field.name}.{part}"
    return text(own if has(own, language) else f"field.{field.name}.{part}", language)


def default_text(field: Field) -> str:
    """A field's default as it could be typed."""
    return figures.format_exact_size(field.default, "B") if field.kind == "size" else TYPED[field.kind](field.default)


def _output(output: Output, answer: Answer, language: str) -> dict[str, Any]:
    value = answer.outputs[output.name]
    rows = None
    if output.kind == "rows":
        shown = [{key: cell for key, cell in row.items() if key not in answer.quiet} for row in value]
        rows = tables.table(shown, language, answer.system, output.columns)
    return {
        "name": output.name,
        "label": text(f"output.{output.name}.label", language),
        "symbol": output.symbol,
        "text": tables.as_text(rows) if rows else FIGURES[output.kind](value, language, answer.system),
        "detail": _detail(output, value, answer, language),
        "table": rows,
        "files": value if output.kind == "files" else None,
        "primary": output.primary,
    }


FIGURES: dict[OutputKind, Callable[[Any, str, units.System], str]] = {
    "count": lambda value, _, __: figures.format_count(value),
    "size": lambda value, _, system: figures.format_size(value, system),
    "number": lambda value, _, __: figures.format_grouped(value),
    "duration": lambda value, _, __: figures.format_duration(value),
    "money": lambda value, _, __: f"{figures.format_decimal(value)}",
    "percent": lambda value, _, __: f"{figures.format_grouped(100 * value, 4)} %",
    "difference": lambda value, _, system: ("−" if value < 0 else "") + figures.format_size(abs(value), system),
    "phase": lambda value, language, _: text(f"phase_name.{value}", language),
    "verdict": lambda value, language, _: text(f"verdict.{value}", language),
    "flag": lambda value, language, _: text("ui.yes" if value else "ui.no", language),
    "files": lambda value, _, __: ", ".join(file["name"] for file in value),
    "vector": lambda value, _, __: f"({', '.join(_cell(component, 4) for component in value)})",
    "table": lambda value, _, __: "\n".join("  ".join(_cell(cell, 4) for cell in row) for row in value),
}
"""Each kind of output as a person reads it; ``rows`` are tables instead."""


def _detail(output: Output, value: Any, answer: Answer, language: str) -> str:
    """The same figure in another way: exact bytes and the other family of units, or exact seconds. Tables may have a legend."""
    kind, legend = output.kind, f"detail.{output.name}"
    if kind == "rows":
        return text(legend, language) if has(legend, language) else ""
    if kind == "size":
        other = figures.format_size(value, "decimal" if answer.system == "binary" else "binary")
        return text("detail.size", language, bytes=figures.format_count(value), other=other)
    if kind == "duration" and value >= 60:
        return text("detail.duration", language, seconds=figures.format_grouped(value, 9))
    return ""


def field_text(field: Field, shown: dict[str, Any], values: Values) -> str:
    """A value as understood, in the form a reader could have typed it."""
    value = shown[field.name]
    return (
        figures.format_exact_size(value, values.units.get(field.name, "B"))
        if field.kind == "size"
        else TYPED[field.kind](value)
    )


def _rows_text(rows: list[list[Any]]) -> str:
    return "; ".join(" ".join(_cell(cell, 15) for cell in row) for row in rows)


TYPED: dict[FieldKind, Callable[[Any], str]] = {
    "count": figures.format_count,
    "number": figures.format_number,
    "choice": str,
    "flag": lambda value: "true" if value else "false",
    "object": jsontext.dumps,
    "names": lambda value: value if isinstance(value, str) else " ".join(value),
    "choices": lambda value: value if isinstance(value, str) else " ".join(value),
    "text": str,
    "counts": _rows_text,
    "numbers": _rows_text,
}
"""Each kind of input as it could be typed; a size needs its unit beside it."""


def _cell(cell: Any, digits: int) -> str:
    return "-" if cell is None else figures.format_number(cell, digits)


def as_text(calculator: Calculator, outputs: list[dict[str, Any]], answer: Answer, language: str) -> str:
    """The result in lines of plain text: a title, a line an output, the notes, and files whole."""
    lines = [text(f"{calculator.stem}.title", language)]
    for output in outputs:
        figure = output["text"].replace("\n", "; ") if not output["table"] else "\n" + output["text"]
        lines.append(f"{output['label']}: {figure}" + (f" ({output['detail']})" if output["detail"] else ""))
    lines += [note["message"] for note in notes(answer, language)]
    return "\n".join(lines + [f"\n{file['name']}\n\n{file['text']}".rstrip() for file in files(outputs)])


def files(outputs: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Every file among the outputs."""
    return [file for output in outputs for file in output["files"] or []]


def command(calculator: Calculator, entered: dict[str, Any]) -> str:
    """The shell command that gives this answer, with the inputs as they were entered."""
    words = ["gradaccum", calculator.name.replace("_", "-")]
    for field in calculator.fields:
        value = entered.get(field.name)
        if field.name not in entered or value is None or value == "":
            continue
        if field.kind == "flag":
            words += _flag(field, value)
        else:
            words += [option(field.name), _typed(field, value)]
    return shlex.join(words)


def _flag(field: Field, value: Any) -> list[str]:
    """A flag that is on by default has an option that turns it off."""
    on = value in (True, "true")
    if on == bool(field.default):
        return []
    return [option(field.name) if on else option(f"no_{field.name}")]


def option(name: str) -> str:
    """The command-line option of a field: ``micro_batch`` is ``--micro-batch``."""
    return "--" + name.replace("_", "-")


def _typed(field: Field, value: Any) -> str:
    """A value of a request as text: there a bare number is bytes, and text without a unit is refused."""
    if isinstance(value, str):
        return value
    if field.kind == "object":
        return jsontext.dumps(jsontext.writable(value))
    if field.kind in ("names", "choices"):
        return " ".join(value)
    if isinstance(value, list):
        return "; ".join(" ".join("-" if cell is None else str(cell) for cell in row) for row in value)
    if field.kind == "number":
        return str(value)
    return f"{int(value)} B" if field.kind == "size" else str(int(value))


def _pictures(calculator: Calculator, values: Values, answer: Answer, language: str) -> dict[str, Any]:
    if answer.drawing is not None:
        return {"drawing": drawing.worded(answer.drawing, calculator.topic, language)}
    drawn = {name: PICTURES[name](values, answer, language) for name in calculator.pictures}
    return {name: data for name, data in drawn.items() if data}
