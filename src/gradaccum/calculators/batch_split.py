"""Calculator ``batch_split``: any three of E, b, a, g give the fourth."""

from __future__ import annotations

from gradaccum import accumulation as core
from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.errors import InputError

SYMBOLS = dict(zip(core.SPLIT, "Ebag", strict=True))


def _given(values: Values) -> dict[str, int]:
    return {name: values[name] for name in core.SPLIT if name in values}


def check_enough(values: Values) -> None:
    """Both absent names are reported: either would do, and only the reader knows which."""
    errors = [InputError(name, "missing", "split") for name in core.unsolved(_given(values))]
    if errors:
        raise ExceptionGroup("missing", errors)


def split_answer(values: Values) -> Answer:
    """The four of E = b * a * g, with the worked example and the warnings that belong to them."""
    given = _given(values)
    solved = core.split(**given)
    n = {SYMBOLS[name]: tex.count(value) for name, value in solved.items()}
    # The order of SPLIT puts replicas last: beside another unknown they count as 1.
    unknown = next((name for name in core.SPLIT if name not in given), "effective_batch")
    if unknown == "effective_batch":
        formula = rf"E = b \cdot a \cdot g = {n['b']} \cdot {n['a']} \cdot {n['g']} = {n['E']}"
    else:
        symbol = SYMBOLS[unknown]
        others = [s for s in "bag" if s != symbol]
        product = rf"{others[0]} \cdot {others[1]}"
        numbers = rf"{n[others[0]]} \cdot {n[others[1]]}"
        formula = rf"{symbol} = \frac{{E}}{{{product}}} = \frac{{{n['E']}}}{{{numbers}}} = {n[symbol]}"
    notes = [Note("replicas_counted_as_one")] if "replicas" not in given and len(given) == 2 else []
    if solved["accumulation_steps"] == 1:
        notes.append(Note("no_accumulation"))
    return Answer(dict(solved), [Step(formula, unknown)], notes, derived=dict(solved))


CALCULATOR = Calculator(
    name="batch_split",
    fields=(
        Field("effective_batch", "count", "E", example="512"),
        Field("micro_batch", "count", "b", example="4"),
        Field("accumulation_steps", "count", "a"),
        Field("replicas", "count", "g", example="2"),
    ),
    outputs=(
        Output("effective_batch", "count", "E", primary=True),
        Output("micro_batch", "count", "b", primary=True),
        Output("accumulation_steps", "count", "a", primary=True),
        Output("replicas", "count", "g", primary=True),
    ),
    answer=split_answer,
    checks=(Check(core.SPLIT, check_enough),),
)
