"""Calculator ``accumulation``: E = b * a * g and M = b * A."""

from __future__ import annotations

import math
from typing import Any

from gradaccum import accumulation as core
from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.catalogue import gpu_memory, gpus
from gradaccum.errors import InputError
from gradaccum.figures import format_size
from gradaccum.units import System, system_of


def _degrees(values: Values) -> dict[str, int]:
    return {name: values[name] for name in core.PARALLEL_DEGREES}


def replicas(values: Values) -> int:
    """g, from the world size and the parallel degrees where a request names them."""
    if "world_size" in values:
        return core.data_parallel_replicas(values["world_size"], **_degrees(values))
    given: int = values["replicas"]
    return given


def check_world(values: Values) -> None:
    """The replicas that the world size leaves must be the replicas that were given."""
    derived, given = replicas(values), values["replicas"]
    if "replicas" in values.given and given != derived:
        product = math.prod(_degrees(values).values())
        details = {"replicas": given, "derived": derived, "product": product}
        raise InputError("world_size", "inconsistent", "world", value=values["world_size"], found=given * product, **details)


def _memory(values: Values, answer_outputs: dict[str, Any], system: System) -> tuple[list[Step], list[Note]]:
    """M and what one device would hold without accumulation; both are of activations alone."""
    b, a, per_sample = values["micro_batch"], values["accumulation_steps"], values["activation_per_sample"]
    memory = core.activation_memory(b, per_sample)
    whole = core.whole_batch_activation_memory(b, a, per_sample)
    answer_outputs |= {"activation_memory": memory, "whole_batch_activation_memory": whole}
    one = tex.size(per_sample, values.units["activation_per_sample"])
    micro_tex = rf"M = b \cdot A = {tex.count(b)} \cdot {one} {tex.equals_size(memory, system)}"
    whole_tex = rf"b \cdot a \cdot A = {tex.count(b)} \cdot {tex.count(a)} \cdot {one} {tex.equals_size(whole, system)}"
    steps = [Step(micro_tex, "activation_memory"), Step(whole_tex, "whole_batch_activation_memory")]
    if "gpu" not in values:
        return steps, []
    capacity = gpu_memory(values["gpu"])
    named = {"gpu": values["gpu"], "capacity": format_size(capacity, "binary")}
    if memory > capacity:
        return steps, [Note("micro_batch_overflows", named)]
    return steps, [Note("accumulation_makes_it_fit", named)] if whole > capacity else []


def _answer(values: Values) -> Answer:
    b, a, g = values["micro_batch"], values["accumulation_steps"], replicas(values)
    batch = core.effective_batch(b, a, g)
    system = system_of(values.units.get("activation_per_sample", "B"))
    outputs: dict[str, Any] = {"effective_batch": batch, "replicas": g}
    steps, notes = [], []
    if "world_size" in values:
        numbers = rf"\frac{{{tex.count(values['world_size'])}}}{{{tex.count(math.prod(_degrees(values).values()))}}}"
        steps.append(Step(rf"g = \frac{{W}}{{tp \cdot pp \cdot cp \cdot sp}} = {numbers} = {tex.count(g)}", "replicas"))
    factors = rf"{tex.count(b)} \cdot {tex.count(a)} \cdot {tex.count(g)}"
    steps.append(Step(rf"E = b \cdot a \cdot g = {factors} = {tex.count(batch)}", "effective_batch"))
    if "activation_per_sample" in values:
        more_steps, more_notes = _memory(values, outputs, system)
        steps += more_steps
        notes += more_notes
    if "sequence_length" in values:
        length = values["sequence_length"]
        outputs["tokens_per_update"] = tokens = batch * length
        numbers = rf"{tex.count(batch)} \cdot {tex.count(length)} = {tex.count(tokens)}"
        steps.append(Step(rf"E \cdot s = {numbers}", "tokens_per_update"))
    if a == 1:
        notes.append(Note("no_accumulation"))
    return Answer(outputs, steps, notes, derived={"replicas": g}, system=system)


WORLD = (
    Field("world_size", "count", group="more"),
    *(Field(name, "count", default=1, group="more") for name in core.PARALLEL_DEGREES),
)
WORLD_CHECK = Check(("world_size", "replicas", *core.PARALLEL_DEGREES), check_world)
CALCULATOR = Calculator(
    name="accumulation",
    fields=(
        Field("micro_batch", "count", "b", required=True, example="4"),
        Field("accumulation_steps", "count", "a", required=True, example="8"),
        Field("replicas", "count", "g", default=1, example="1"),
        Field("activation_per_sample", "size", "A", example="0.5 GB"),
        Field("gpu", "choice", choices=tuple(gpus()), example="RTX 3060 12GB"),
        Field("sequence_length", "count", "s", group="more"),
        *WORLD,
    ),
    outputs=(
        Output("effective_batch", "count", "E", primary=True),
        Output("activation_memory", "size", "M", primary=True),
        Output("whole_batch_activation_memory", "size", r"b \cdot a \cdot A"),
        Output("replicas", "count", "g"),
        Output("tokens_per_update", "count", r"E \cdot s"),
    ),
    answer=_answer,
    checks=(WORLD_CHECK,),
    pictures=("capacity", "window"),
)
