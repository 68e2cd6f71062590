"""Experiment ``summed_losses``: one backward pass over the sum of the losses keeps every graph."""

from __future__ import annotations

from fractions import Fraction

from gradaccum import figures, tex, units
from gradaccum.calculators.declaration import Answer, Calculator, Field, Output, Step, Values
from gradaccum.calculators.experiment.inputs import count
from gradaccum.drawing import Drawing, Series
from gradaccum.experiments import summed_losses

POINTS = 16
LARGEST = 2**50


def _answer(values: Values) -> Answer:
    b, a = values["micro_batch"], values["accumulation_steps"]
    sample, graph = values["activation_per_sample"], values["per_graph"]
    right, wrong = summed_losses.graph_memory(b, sample, graph), summed_losses.summed_memory(a, b, sample, graph)
    outputs = {"right_memory": right, "wrong_memory": wrong, "wrong_factor": Fraction(wrong, right)}
    unit = values.units.get("activation_per_sample", "KiB")
    system = units.system_of(unit)
    each = rf"{tex.near_size(graph, system)} + {tex.count(b)} \cdot {tex.near_size(sample, system)}"
    steps = [
        Step(rf"c + b A = {each} {tex.equals_size(right, system)}", "summed_right"),
        Step(
            rf"a\,(c + b A) = {tex.count(a)} \cdot {tex.near_size(right, system)} {tex.equals_size(wrong, system)}",
            "summed_wrong",
        ),
    ]
    marks = sorted({1 + round(Fraction((a - 1) * k, POINTS)) for k in range(POINTS + 1)})
    drawn = figures.size_in_unit(wrong, system)[1]
    height = Fraction(right, units.UNITS[drawn])
    curves = [
        Series("backward_each_time", "right", [(n, height) for n in marks]),
        Series("backward_once", "wrong", [(n, n * height) for n in marks]),
    ]
    shown = {"right": figures.format_size(right, system), "wrong": figures.format_size(wrong, system), "unit": drawn}
    return Answer(outputs, steps, drawing=Drawing("curves", curves, shown), system=system)


CALCULATOR = Calculator(
    name="experiment",
    topic="summed_losses",
    fields=(
        count("micro_batch", 8, 4096, "b"),
        count("accumulation_steps", 16, 4096, "a"),
        Field("activation_per_sample", "size", "A", default=2304, example="2304 B", least=1, most=LARGEST),
        Field("per_graph", "size", "c", default=49152, example="49152 B", least=1, most=LARGEST),
    ),
    outputs=(
        Output("right_memory", "size", primary=True),
        Output("wrong_memory", "size", primary=True),
        Output("wrong_factor", "number"),
    ),
    answer=_answer,
)
