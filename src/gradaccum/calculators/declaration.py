"""What a calculator declares: its fields, its outputs, and the functions that check and answer.

The form, the command-line help, the reference page and the validation are all made from these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from gradaccum.drawing import Drawing
from gradaccum.units import System

FieldKind = Literal["count", "size", "number", "choice", "flag", "counts", "numbers", "object", "names", "choices", "text"]
OutputKind = Literal[
    "count",
    "size",
    "number",
    "duration",
    "money",
    "table",
    "percent",
    "difference",
    "phase",
    "flag",
    "rows",
    "files",
    "verdict",
    "vector",
]


ANY = "any"
"""The word for all the choices that a search may try."""


class Values(dict[str, Any]):
    """Inputs as understood: counts and sizes are int, numbers Fraction, tables lists of lists.

    Defaults are filled in; a field with neither value nor default is absent. ``given`` names what the request itself held,
    ``units`` the unit each size was written in.
    """

    def __init__(self, values: Mapping[str, Any], given: Iterable[str] = (), units: Mapping[str, str] | None = None) -> None:
        super().__init__(values)
        self.given = frozenset(given)
        self.units = dict(units or {})


@dataclass(frozen=True)
class Field:
    """One input. ``example`` is what a form starts with, ``default`` what a request without the field means.

    ``zero`` lets a number be 0, ``fraction`` bounds it to at most 1; ``budget`` rounds part of a byte down.
    ``least`` and ``most`` bound a count or number, or each cell of a table; ``most_cells`` bounds the table.
    ``counts`` and ``numbers`` are tables: one row per replica, one cell per micro-batch. ``object`` is a JSON object or its
    text, and ``members`` those of its parts that a form lets a reader type one by one. ``names`` is one of the choices or a
    list of other names. ``choices`` are one or several of the choices, or ``any``, which stands for ``searched``: the ones a
    search may try without being told. ``text`` is anything else.
    """

    name: str
    kind: FieldKind
    symbol: str | None = None
    required: bool = False
    default: Any = None
    example: str = ""
    choices: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    group: Literal["main", "more"] = "main"
    zero: bool = False
    fraction: bool = False
    budget: bool = False
    least: int | Fraction | None = None
    most: int | Fraction | None = None
    most_cells: int | None = None
    members: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Output:
    """One result. A ``primary`` output stands large above the others.

    ``columns`` are those that a table shows of ``rows``, where not all keys of a row are; ``files`` are
    ``{"name", "language", "text"}``.
    """

    name: str
    kind: OutputKind
    symbol: str | None = None
    primary: bool = False
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """A line of the worked example: TeX with the reader's numbers, and the message ``step.<key>`` with its values."""

    tex: str
    key: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Note:
    """A warning that does not stop the answer: the message ``note.<code>`` with its values."""

    code: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Words:
    """A sentence among the outputs: the message of that key with its values, in the language of the request."""

    key: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """A field with one of its choices, as part of a sentence."""

    field: str
    choice: str


@dataclass(frozen=True)
class Check:
    """A rule between fields; it runs when none of ``fields`` is at fault already, and raises ``InputError``."""

    fields: tuple[str, ...]
    rule: Callable[[Values], None]


@dataclass(frozen=True)
class Answer:
    """What a calculator found: outputs (int, Fraction, Decimal, lists of them), the worked example, the warnings.

    ``derived`` are inputs the request left open and the calculator worked out; ``system`` is the reader's family of units;
    ``quiet`` are columns of its lists that say nothing new, and that a table leaves out.
    ``worded`` gives the outputs that hold words of their own, in the language it is asked for; ``drawing`` is what to draw,
    where the answer itself says it.
    """

    outputs: dict[str, Any]
    steps: list[Step] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    derived: dict[str, Any] = field(default_factory=dict)
    system: System = "decimal"
    worded: Callable[[str], dict[str, Any]] | None = None
    drawing: Drawing | None = None
    quiet: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Calculator:
    """A declared calculator; ``name`` is also its command and the stem of its messages.

    One that answers several questions has ``variants``: by the value of its first field, the calculator with the fields and
    outputs of that question. It itself then declares all of them, for whoever has not chosen yet.
    """

    name: str
    fields: tuple[Field, ...]
    outputs: tuple[Output, ...]
    answer: Callable[[Values], Answer]
    checks: tuple[Check, ...] = ()
    pictures: tuple[str, ...] = ()
    variants: Mapping[str, Calculator] = field(default_factory=dict)
    topic: str = ""

    @property
    def stem(self) -> str:
        """What its messages start with: ``calculator.NAME``, with the question's own name where there are several."""
        return f"calculator.{self.name}" + (f".{self.topic}" if self.topic else "")

    def field(self, name: str) -> Field:
        """The field of that name."""
        return next(f for f in self.fields if f.name == name)
