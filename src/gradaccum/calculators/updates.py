"""Calculator ``updates``: how many optimizer steps a run makes, how long it takes and what it costs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gradaccum import schedule, tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.errors import InputError

SECONDS_PER_HOUR = 3600


def _check_time(values: Values) -> None:
    """A time of an update or a price says nothing without the time of a micro-batch."""
    if "seconds_per_micro_batch" not in values and {"seconds_per_update", "hourly_price"} & values.given:
        raise InputError("seconds_per_micro_batch", "missing", "time")


def _counts(values: Values) -> tuple[schedule.Updates, int]:
    samples = values["dataset_size"] * values["samples_per_prompt"]
    counts = schedule.updates(
        samples,
        values["micro_batch"],
        values["accumulation_steps"],
        values["replicas"],
        values["epochs"],
        drop_last=values["drop_last"],
        last_window=values["last_window"],
    )
    return counts, samples


def _count_steps(values: Values, counts: schedule.Updates, samples: int) -> list[Step]:
    b, a, g, epochs = (tex.count(values[n]) for n in ("micro_batch", "accumulation_steps", "replicas", "epochs"))
    m, total = tex.count(counts.micro_batches_per_epoch), tex.count(counts.total_updates)
    left, right = (r"\lfloor", r"\rfloor") if values["drop_last"] else (r"\lceil", r"\rceil")
    quotient = rf"\frac{{{tex.count(samples)}}}{{{b} \cdot {g}}}"
    micro_tex = rf"m = \left{left} \frac{{D}}{{b \cdot g}} \right{right} = \left{left} {quotient} \right{right} = {m}"
    steps = [Step(micro_tex, "micro_batches_per_epoch")]
    if values["last_window"] == "carry":
        run = rf"\left\lfloor \frac{{{m} \cdot {epochs}}}{{{a}}} \right\rfloor = {total}"
        return [*steps, Step(rf"U = \left\lfloor \frac{{m \cdot n}}{{a}} \right\rfloor = {run}", "total_updates_carried")]
    left, right = (r"\lceil", r"\rceil") if values["last_window"] == "step" else (r"\lfloor", r"\rfloor")
    epoch = rf"\left{left} \frac{{m}}{{a}} \right{right}"
    filled = rf"\left{left} \frac{{{m}}}{{{a}}} \right{right} \cdot {epochs}"
    return [*steps, Step(rf"U = {epoch} \cdot n = {filled} = {total}", "total_updates")]


def _time(values: Values, counts: schedule.Updates, outputs: dict[str, Any]) -> list[Step]:
    micro, update = values["seconds_per_micro_batch"], values.get("seconds_per_update", Fraction(0))
    a, batch = values["accumulation_steps"], values["micro_batch"] * values["accumulation_steps"] * values["replicas"]
    window = schedule.window_seconds(a, micro, update)
    run = schedule.run_seconds(counts, values["epochs"], micro, update)
    outputs |= {"seconds_per_window": window, "samples_per_second": batch / window, "total_seconds": run}
    numbers = rf"{tex.count(a)} \cdot {tex.number(micro)} + {tex.number(update)} {tex.equals_number(window)}"
    steps = [Step(rf"t_w = a \cdot t_m + t_u = {numbers}\,\text{{s}}", "seconds_per_window")]
    if "hourly_price" in values:
        outputs["total_cost"] = run / SECONDS_PER_HOUR * values["hourly_price"]
    return steps


def _notes(values: Values, counts: schedule.Updates) -> list[Note]:
    notes = []
    batch = values["micro_batch"] * values["accumulation_steps"] * values["replicas"]
    if not counts.total_updates:
        notes.append(Note("no_update"))
    elif counts.last_window_micro_batches:
        sizes = {"rest": counts.last_window_micro_batches, "accumulation_steps": values["accumulation_steps"]}
        notes.append(Note(f"last_window_{values['last_window']}", sizes))
    if batch % values["samples_per_prompt"]:
        notes.append(Note("prompt_group_divided", {"group": values["samples_per_prompt"], "effective_batch": batch}))
    return notes


def _answer(values: Values) -> Answer:
    counts, samples = _counts(values)
    outputs: dict[str, Any] = {
        "total_updates": counts.total_updates,
        "updates_per_epoch": counts.updates_per_epoch,
        "micro_batches_per_epoch": counts.micro_batches_per_epoch,
        "last_window_micro_batches": counts.last_window_micro_batches,
        "last_window_gradient_scale": counts.last_window_gradient_scale,
    }
    steps = _count_steps(values, counts, samples)
    if "warmup_ratio" in values:
        ratio = values["warmup_ratio"]
        outputs["warmup_updates"] = warmup = schedule.warmup_updates(ratio, counts.total_updates)
        numbers = rf"\left\lceil {tex.number(ratio)} \cdot {tex.count(counts.total_updates)} \right\rceil = {tex.count(warmup)}"
        steps.append(Step(numbers, "warmup_updates"))
    if "seconds_per_micro_batch" in values:
        steps += _time(values, counts, outputs)
    return Answer(outputs, steps, _notes(values, counts))


CALCULATOR = Calculator(
    name="updates",
    fields=(
        Field("dataset_size", "count", "D", required=True, example="100000"),
        Field("epochs", "count", "n", default=1, example="3"),
        Field("micro_batch", "count", "b", required=True, example="4"),
        Field("accumulation_steps", "count", "a", required=True, example="8"),
        Field("replicas", "count", "g", default=1, example="1"),
        Field("last_window", "choice", default="step", example="step", choices=schedule.LAST_WINDOW),
        Field("drop_last", "flag", default=False, group="more"),
        Field("samples_per_prompt", "count", default=1, group="more"),
        Field("warmup_ratio", "number", zero=True, fraction=True, example="0.03", group="more"),
        Field("seconds_per_micro_batch", "number", "t_m", example="0.4", group="more"),
        Field("seconds_per_update", "number", "t_u", zero=True, example="0.2", group="more"),
        Field("hourly_price", "number", zero=True, group="more"),
    ),
    outputs=(
        Output("total_updates", "count", "U", primary=True),
        Output("updates_per_epoch", "count"),
        Output("micro_batches_per_epoch", "count", "m"),
        Output("last_window_micro_batches", "count"),
        Output("last_window_gradient_scale", "number"),
        Output("warmup_updates", "count"),
        Output("seconds_per_window", "duration", "t_w"),
        Output("samples_per_second", "number"),
        Output("total_seconds", "duration"),
        Output("total_cost", "money"),
    ),
    answer=_answer,
    checks=(Check(("seconds_per_micro_batch", "seconds_per_update", "hourly_price"), _check_time),),
)
