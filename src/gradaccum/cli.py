"""The shell's face: ``gradaccum run`` for JSON, and a friendly command per calculator."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from gradaccum import __version__, api, dryrun, figures, messages
from gradaccum.calculators import CALCULATORS, Calculator, Field
from gradaccum.messages import choice_text
from gradaccum.view import default_text, files, option

REFUSED, INTERRUPTED = 2, 130
OPTIONS = {"language": "--lang", "source": "SOURCE"}
LANGUAGE_OPTIONS = ("--lang", "--language")
# The dry run stands beside the calculators here alone: `gradaccum run` must not run a function that a request names.
KNOWN = {**CALCULATORS, dryrun.CALCULATOR.name: dryrun.CALCULATOR}
COMMANDS = {name.replace("_", "-"): calculator for name, calculator in KNOWN.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 answered, 2 refused."""
    try:
        return _answer(list(sys.argv[1:] if arguments is None else arguments))
    except BrokenPipeError:
        # Whoever read the output, `head` say, has seen enough. Python would complain again when it closes the stream.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - it stays open to the end of the program
        return 0


def _answer(words: list[str]) -> int:
    language = _language_of(words)
    _use_utf8()
    words = _command_first(words)
    if words and not words[0].startswith("-") and words[0] not in {"run", *COMMANDS}:
        response = api.answer({"calculator": words[0], "language": language})
        return _refuse((f"{e['message']} {e['hint']}" for e in response["errors"]), language)
    parser = build_parser(language)
    options, rest = parser.parse_known_args(words)
    if options.command == "run":
        unknown = [messages.text("error.unknown_field", language, value=word) for word in rest]
        return _refuse(unknown, language) if unknown else _run(_request(options.request))
    if options.command:
        return _calculate(COMMANDS[options.command], options, rest, language)
    parser.print_help()
    return 0 if not rest else REFUSED


def _command_first(words: list[str]) -> list[str]:
    """The command before the language, wherever that was said, and by the name that the help gives it."""
    said = 2 if words[:1] and words[0] in LANGUAGE_OPTIONS else int(bool(words) and words[0].startswith("--lang"))
    words = words[said:] + words[:said]
    command = words[0].replace("_", "-") if words else ""
    return [command, *words[1:]] if command in COMMANDS else words


def help_text(command: str, language: str) -> str:
    """What ``gradaccum COMMAND --help`` prints, for the reference page."""
    return build_parser(language, only=command).format_help()


def build_parser(language: str, only: str | None = None) -> argparse.ArgumentParser:
    """The parser with its help in that language, made from the calculators' declarations; or that of one command alone."""

    def words(key: str) -> str:
        return messages.text(f"cli.{key}", language)

    class Help(argparse.HelpFormatter):
        def __init__(self, prog: str) -> None:
            # A fixed width: the help is printed on a page too, and must not depend on the terminal that built it.
            super().__init__(prog, max_help_position=30, width=100)

        def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
            super().add_usage(usage, actions, groups, f"{words('usage')}: " if prefix is None else prefix)

        def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
            # Options take any number of words, but only so that a blank in a value needs no quotes.
            plain = isinstance(action.metavar, str) and action.nargs == "*"
            return str(action.metavar) if plain else super()._format_args(action, default_metavar)

    class Parser(argparse.ArgumentParser):
        def __init__(self, **settings: Any) -> None:
            # An abbreviation that means one option today may mean two tomorrow.
            super().__init__(**settings, add_help=False, allow_abbrev=False, formatter_class=Help)
            self._optionals.title = words("options")
            self._positionals.title = words("positional")
            self.add_argument("-h", "--help", action="help", help=words("help"))

    if only:
        return _describe(Parser(prog=f"gradaccum {only}"), COMMANDS[only], language)
    parser = Parser(prog="gradaccum", description=words("description"))
    parser.add_argument("--version", action="version", version=f"gradaccum {__version__}", help=words("version"))
    _take_language(parser, language)
    commands = parser.add_subparsers(dest="command", title=words("commands"), metavar="COMMAND", parser_class=Parser)
    run = commands.add_parser("run", help=words("run"), description=words("run"))
    run.add_argument("request", nargs="?", default="-", help=words("request"))
    for command, calculator in COMMANDS.items():
        summary = messages.text(f"calculator.{calculator.name}.summary", language)
        _describe(commands.add_parser(command, help=summary), calculator, language)
    return parser


def _describe(parser: argparse.ArgumentParser, calculator: Calculator, language: str) -> argparse.ArgumentParser:
    """Give a command its description and an option for each declared field."""
    parser.description = messages.text(f"calculator.{calculator.name}.summary", language)
    for field in calculator.fields:
        # Neither type nor choices here: every value goes to the core as text, which refuses it in the reader's language.
        settings: dict[str, Any] = {"dest": f"field_{field.name}", "help": _help(calculator, field, language)}
        if field.name in OPTIONS:
            parser.add_argument(settings.pop("dest"), metavar=OPTIONS[field.name], nargs="?", **settings)
        elif field.kind == "flag" and field.default:
            parser.add_argument(option(field.name), action=argparse.BooleanOptionalAction, **settings)
        elif field.kind == "flag":
            parser.add_argument(option(field.name), action="store_true", **settings)
        else:
            # Any number of words: an unquoted "0.5 GB" is two, and none at all is refused below, not by argparse.
            parser.add_argument(option(field.name), metavar=field.kind.upper(), nargs="*", **settings)
    parser.add_argument("--json", action="store_true", help=messages.text("cli.json", language), dest="as_json")
    _take_language(parser, language)
    return parser


def _take_language(parser: argparse.ArgumentParser, language: str) -> None:
    wording = messages.text("cli.lang", language, languages=" ".join(messages.LANGUAGES))
    parser.add_argument(*LANGUAGE_OPTIONS, default="en", metavar="LANG", dest="lang", help=wording)


def _help(calculator: Calculator, field: Field, language: str) -> str:
    parts = [messages.text(f"field.{field.name}.help", language)]
    parts += [messages.text("cli.object", language)] if field.kind == "object" else []
    askers = [name for name, variant in calculator.variants.items() if field.name in {one.name for one in variant.fields[1:]}]
    parts += [f"({', '.join(askers)})"] if askers else []
    parts += [f"[{'; '.join(choice_text(field.name, choice, language) for choice in field.choices)}]"] if field.choices else []
    if field.required:
        parts.append(f"({messages.text('cli.required', language)})")
    elif field.default not in (None, False) and not calculator.variants:
        parts.append(f"({messages.text('cli.default', language, value=default_text(field))})")
    return " ".join(parts).replace("%", "%%")


def _request(argument: str) -> str:
    # Bytes that are no UTF-8 are the request's fault, to be refused like any other, not a crash of the reader.
    return sys.stdin.buffer.read().decode("utf-8", "replace") if argument == "-" else argument


def _run(request: str, ask: Callable[[str], str] = api.run) -> int:
    response = ask(request)
    print(response)
    return _status(json.loads(response))


def _status(response: dict[str, Any]) -> int:
    if not response["ok"]:
        return REFUSED
    return 0 if response["outputs"].get("complete", True) else INTERRUPTED


def _calculate(calculator: Calculator, options: argparse.Namespace, rest: Sequence[str], language: str) -> int:
    inputs: dict[str, Any] = {}
    for field in calculator.fields:
        words = getattr(options, f"field_{field.name}")
        if words == []:
            return _refuse([messages.text("cli.expects_value", language, option=option(field.name))], language)
        if words or (words is False and field.default):
            inputs[field.name] = " ".join(words) if isinstance(words, list) else words
        if field.kind == "object" and words:
            try:
                inputs[field.name] = _content(inputs[field.name])
            except OSError:
                wrong = {"option": option(field.name), "path": inputs[field.name]}
                return _refuse([messages.text("cli.unreadable", language, **wrong)], language)
    if rest and not any(word.startswith("-") for word in rest):
        return _refuse((messages.text("error.unknown_field", language, value=word) for word in rest), language)
    # An option that does not exist is a field that does not exist, so the core answers with the nearest name.
    inputs |= {word.lstrip("-").partition("=")[0].replace("-", "_"): "" for word in rest if word.startswith("-")}
    request = {"calculator": calculator.name, "inputs": inputs, "language": options.lang, "view": not options.as_json}
    ask = dryrun.respond if calculator is dryrun.CALCULATOR else api.run
    if options.as_json:
        return _run(json.dumps(request), ask)
    response = json.loads(ask(json.dumps(request)))
    if not response["ok"]:
        lines = (f"{OPTIONS.get(e['field'], option(e['field']))}: {e['message']} {e['hint']}" for e in response["errors"])
        return _refuse(lines, language)
    _print_answer(response)
    return _status(response)


def _content(entered: str) -> str:
    """A JSON object as it was typed, or what the file of that name holds. Errors: ``OSError``."""
    return entered if entered.lstrip().startswith("{") else Path(entered).read_text(encoding="utf-8-sig", errors="replace")


def _print_answer(response: dict[str, Any]) -> None:
    outputs = response["view"]["outputs"]
    width = max((figures.width(output["label"]) for output in outputs), default=0)
    for output in outputs:
        if output["table"]:
            print(f"\n{output['label']}\n  " + output["text"].replace("\n", "\n  "))
            continue
        # A table of numbers is text of several lines.
        figure = output["text"].replace("\n", "\n" + " " * (width + 2))
        detail = f"   ({output['detail']})" if output["detail"] else ""
        print(output["label"] + " " * (width + 2 - figures.width(output["label"])) + figure + detail)
    for note in response["notes"]:
        print(f"\n* {note['message']}")
    for file in files(outputs):
        print(f"\n--- {file['name']}\n{file['text']}", end="")


def _refuse(lines: Iterable[str], language: str) -> int:
    print(messages.text("cli.refused", language), file=sys.stderr)
    for line in lines:
        print(f"  {line}".rstrip(), file=sys.stderr)
    return REFUSED


def _language_of(words: Sequence[str]) -> str:
    """The language asked for, found before parsing because the help itself is in that language."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, _, value = word.partition("=")
        if name in LANGUAGE_OPTIONS and (value or following) in messages.LANGUAGES:
            return value or following
    return "en"


def _use_utf8() -> None:
    # A terminal in the C locale would raise on the first Arabic letter.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
