"""A calculator as it stands in the page before any script has run: form, default result, worked example, copy buttons.

The class names and attributes are what ``docs/assets/js/calculator.mjs`` takes hold of.
"""

from __future__ import annotations

import re
from typing import Any

from gradaccum import __version__, messages
from gradaccum.calculators import Calculator, Field
from gradaccum.calculators.declaration import ANY
from gradaccum.messages import choice_text
from gradaccum.validation import range_end
from gradaccum.view import default_text, field_words
from page_parts.answers import ask, calculator_named, word
from page_parts.choices import choice_detail
from page_parts.markup import formula, isolated, prose, tag, text, with_whole_terms

SEARCHED = 20
"""A list of so many choices gets a search box."""
SHORT = 18
"""Characters of a choice that a list shows in half the width of the form."""
COPY_FORMATS = ("text", "json", "command", "link")
COMMENT = re.compile(r"^(?P<mark>\s*# )(?P<words>.*)$")
TABLES = ("counts", "numbers", "table", "object")
# A size needs letters for its unit, which the keyboard for digits lacks on phones.
KEYBOARDS = {"count": "numeric", "number": "decimal", "size": "text", "names": "text"}


def calculator_html(name: str, language: str) -> str:
    """The whole calculator of that name."""
    declared = calculator_named(name)
    response = ask(name, language)
    fields = declared.fields[1:] if declared.topic else declared.fields
    main = [field_html(declared, field, language) for field in fields if field.group == "main"]
    more = [field_html(declared, field, language) for field in fields if field.group == "more"]
    if declared.topic:
        main.insert(0, hidden_html(declared.fields[0]))
    if more:
        summary = tag("summary", text(word("ui.more", language)))
        main.append(tag("details", summary, tag("div", *more, class_="ga-fields"), class_="ga-more"))
    retry = tag("button", text(word("ui.retry", language)), type="button", data_action="retry")
    return tag(
        "section",
        tag("form", tag("div", *main, class_="ga-fields"), class_="ga-form", novalidate=True),
        tag("div", class_="ga-form-errors", role="alert"),
        tag("noscript", tag("p", text(word("ui.noscript", language)), class_="ga-noscript")),
        tag("p", class_="ga-status", role="status"),
        tag("div", retry, " ", tag("code", class_="ga-command", dir="ltr"), class_="ga-retry", hidden=True),
        tag("div", *(output_html(output, language) for output in response["view"]["outputs"]), class_="ga-result"),
        tag("div", *map(note_html, response["notes"]), class_="ga-notes"),
        tag("p", text(word("ui.worked_example", language)), class_="ga-caption"),
        steps_html(response["steps"]),
        copy_html(language),
        package_html(language),
        class_="ga-calculator",
        data_calculator=declared.name,
        data_language=language,
        aria_label=word(f"{declared.stem}.title", language),
    )


def hidden_html(field: Field) -> str:
    """The field that says which question a form asks: nothing to see, and a place for an error about it."""
    control = f"ga-topic-{field.name}"
    error = tag("p", id=f"{control}-error", class_="ga-error", hidden=True)
    return tag("input", type="hidden", id=control, name=field.name, value=field.example) + error


def field_html(declared: Calculator, field: Field, language: str) -> str:
    """One labelled control with room for its help and its error."""
    control = f"ga-{declared.name}-{field.name}".replace("_", "-")
    label = [text(field_words(declared, field, "label", language))]
    if field.symbol:
        label += [" ", formula(field.symbol)]
    if not field.required and field.kind != "flag" and not declared.topic:
        label += [" ", tag("span", text(word("ui.optional", language)), class_="ga-optional")]
    common: dict[str, Any] = {"id": control, "name": field.name, "aria_describedby": f"{control}-help {control}-error"}
    parts = [tag("label", *label, for_=control), control_html(field, language, common)]
    if field.kind == "flag":
        parts.reverse()
    if field.kind == "object":
        parts += object_html(field, control, language)
    return tag(
        "div",
        *parts,
        tag("p", with_whole_terms(help_text(declared, field, language)), id=f"{control}-help", class_="ga-help"),
        tag("p", id=f"{control}-error", class_="ga-error", hidden=True),
        class_=f"ga-field ga-field-{field.kind}" + " ga-field-long" * has_long_choice(field, language),
        data_field=field.name,
    )


def has_long_choice(field: Field, language: str) -> bool:
    """Whether a list of choices would cut one of them in a narrow column; one with a search box shows short names."""
    names = [ANY, *field.choices] if field.kind == "choices" else field.choices
    return len(field.choices) < SEARCHED and any(len(choice_text(field.name, name, language)) > SHORT for name in names)


def help_text(declared: Calculator, field: Field, language: str) -> str:
    """What a field means, and its range where it has one that a reader can meet."""
    words = field_words(declared, field, "help", language)
    if field.least is None or field.most is None or field.kind not in ("count", "number"):
        return words
    ends = {"least": range_end(field.least), "greatest": range_end(field.most)}
    return f"{words} {messages.text('ui.range', language, **ends)}"


def object_html(field: Field, control: str, language: str) -> list[str]:
    """Beside the text of an object: a file to choose or drop, and its members to be typed one by one."""
    chooser = tag("input", type="file", accept=".json,application/json", hidden=True, tabindex="-1")
    button = tag("button", text(word("ui.choose_file", language)), type="button", data_action="file")
    parts = [
        tag("div", chooser, button, " ", tag("span", text(word("ui.drop_here", language))), class_="ga-drop"),
        tag("p", text(word("ui.too_long", language)), class_="ga-too-long", role="status", hidden=True),
    ]
    if field.members:
        boxes = tag("div", *(member_html(field, member, control, language) for member in field.members), class_="ga-fields")
        hint = tag("p", text(word("ui.by_hand_help", language)), class_="ga-help")
        parts.append(tag("details", tag("summary", text(word("ui.by_hand", language))), boxes, hint, class_="ga-members"))
    return parts


def member_html(field: Field, member: Field, control: str, language: str) -> str:
    """One member of an object: no field of the form by itself, since the text holds it."""
    common = {"id": f"{control}-{member.name}".replace("_", "-"), "data_member": member.name}
    label = text(word(f"field.{field.name}.{member.name}.label", language))
    symbol = [" ", formula(member.symbol)] if member.symbol else []
    if member.kind == "count":
        box = tag("input", **common, type="text", inputmode=KEYBOARDS["count"], dir="ltr", autocomplete="off")
    else:
        names = [("true", "ui.yes"), ("false", "ui.no")] if member.kind == "flag" else []
        shown = [("", ""), *((value, word(key, language)) for value, key in names), *((name, name) for name in member.choices)]
        box = tag("select", *(tag("option", text(label), value=value) for value, label in shown), **common)
    return tag("div", tag("label", label, *symbol, for_=common["id"]), box, class_="ga-field ga-member")


def control_html(field: Field, language: str, common: dict[str, Any]) -> str:
    """The control itself, holding the example the form starts with."""
    if field.kind == "flag":
        return tag("input", **common, type="checkbox", checked=field.example == "true")
    if field.kind in ("choice", "choices"):
        searched = field.kind == "choice" and len(field.choices) >= SEARCHED
        return tag("select", *options_html(field, language), **common, data_search=searched)
    hint = None if field.default is None or field.kind in TABLES else default_text(field)
    typed: dict[str, Any] = {"dir": "ltr", "autocomplete": "off", "placeholder": hint, "spellcheck": "false"}
    if field.kind in TABLES:
        rows = max(2, field.example.count("\n") + 1)
        return tag("textarea", text(field.example), **common, **typed, rows=rows)
    return tag("input", **common, type="text", inputmode=KEYBOARDS[field.kind], value=field.example, **typed)


def options_html(field: Field, language: str) -> list[str]:
    """The choices; names of hardware and the like have no message and stand for themselves, with a figure beside them."""
    start = field.example or field.default
    options = []
    if not field.required and field.default is None:
        options.append(tag("option", text(word("ui.none", language)), value="", selected=not start))
    for choice in (*([ANY] if field.kind == "choices" else []), *field.choices):
        label, detail = choice_text(field.name, choice, language), choice_detail(field.name, choice, language)
        parts = {"data_name": label, "data_detail": detail} if detail else {}
        shown = text(f"{isolated(label)} · {isolated(detail)}" if detail else label)
        options.append(tag("option", shown, value=choice, selected=choice == start, **parts))
    return options


def output_html(output: dict[str, Any], language: str) -> str:
    """One result: label, value, detail."""
    label = [text(output["label"])]
    if output["symbol"]:
        label += [" ", formula(output["symbol"])]
    return tag(
        "div",
        tag("span", *label, class_="ga-label"),
        " ",
        *value_html(output, language),
        " ",
        tag("span", prose(output["detail"]), class_="ga-detail"),
        class_=output_class(output),
        data_output=output["name"],
    )


def output_class(output: dict[str, Any]) -> str:
    """Primary outputs stand large, tables take the whole width."""
    names = ["ga-output"] + ["ga-primary"] * output["primary"] + ["ga-list"] * bool(output["table"] or output["files"])
    return " ".join(names)


def value_html(output: dict[str, Any], language: str) -> list[str]:
    """The figure, or the table or the files of an output that is a list."""
    if output["files"]:
        names = [tag("button", text(file["name"]), type="button", dir="ltr") for file in output["files"]]
        files = [file_html(file, language) for file in output["files"]]
        return [tag("div", tag("div", *names, class_="ga-tabs"), *files, class_="ga-files", data_search_exclude=True)]
    if not output["table"]:
        return [tag("output", text(output["text"]), class_="ga-value", dir="ltr")]
    table = output["table"]
    head = tag("tr", *(tag("th", text(column), scope="col") for column in table["columns"]))
    rows = [tag("tr", *cells_html(table, *row)) for row in zip(table["rows"], table["order"], strict=True)]
    return [tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_="ga-table", tabindex="0")]


def file_html(file: dict[str, str], language: str) -> str:
    """A file, named and whole; scripts put it behind a tab. A comment's words keep their own direction.

    Tabs and buttons hold the place of those that scripts put there, so nothing below moves.
    """
    buttons = [tag("button", text(word(f"ui.{name}_file", language)), type="button") for name in ("copy", "download")]
    lines = [COMMENT.sub(_comment_html, text(line)) for line in file["text"].split("\n")]
    block = tag("pre", tag("code", "&#10;".join(lines)), dir="ltr", tabindex="0")
    heading = tag("p", text(file["name"]), class_="ga-file-name", dir="ltr")
    bar = tag("div", *buttons, class_="ga-file-buttons")
    return tag("div", bar, heading, block, class_="ga-file no-copy", data_name=file["name"], data_language=file["language"])


def _comment_html(line: re.Match[str]) -> str:
    return tag("span", line["mark"], tag("bdi", line["words"]), class_="ga-comment")


def cells_html(table: dict[str, Any], row: list[str], order: list[Any]) -> list[str]:
    """The cells of a row, each figure with what it is sorted by."""
    figures = zip(table["keys"], row, table["numeric"], order, strict=True)
    return [
        tag("td", text(cell), dir="ltr" if number else "auto", data_column=key, data_order=rank if number else None)
        for key, cell, number, rank in figures
    ]


def note_html(note: dict[str, Any]) -> str:
    """A warning that does not stop the answer."""
    return tag("p", prose(note["message"]), data_note=note["code"])


def steps_html(steps: list[dict[str, Any]]) -> str:
    """The worked example: each line a formula with the numbers in it, and what it says in words."""
    lines = [
        tag("li", formula(step["tex"], display=True, class_="arithmatex arithmatex-live"), tag("p", prose(step["text"])))
        for step in steps
    ]
    return tag("ol", *lines, class_="ga-steps")


def copy_html(language: str) -> str:
    """The buttons that copy and print the result, and the place for its address on paper."""
    buttons = [
        tag("button", text(word(f"ui.copy_{form}", language)), type="button", data_action="copy", data_format=form)
        for form in COPY_FORMATS
    ]
    buttons.append(tag("button", text(word("ui.print", language)), type="button", data_action="print"))
    return tag("div", *buttons, tag("p", class_="ga-source", dir="ltr"), class_="ga-copy")


def package_html(language: str) -> str:
    """Which package answers. Its file is built after the pages, so ``postbuild`` puts the hash in its place."""
    said = messages.text("ui.package", language, version=__version__)
    return tag(
        "p",
        with_whole_terms(said),
        " ",
        tag("code", class_="ga-wheel", dir="ltr"),
        class_="ga-package",
        data_search_exclude=True,
    )
