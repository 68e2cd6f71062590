"""Calculator ``plan``: settings that reach an effective batch inside a memory budget."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

from gradaccum import accumulation, costs, planner, tex
from gradaccum.calculators.accumulation import replicas
from gradaccum.calculators.declaration import Answer, Calculator, Note, Output, Step, Values
from gradaccum.calculators.lora import model_notes
from gradaccum.calculators.plan_fields import CHECKS, FIELDS, SWITCHES, allowed_switches, budget_of, has_model
from gradaccum.calculators.plan_recipe import Recipe, recipe
from gradaccum.calculators.plan_rows import changes_of, overflow, plan_row, plan_rows, would_fit
from gradaccum.calculators.training_memory import planned
from gradaccum.figures import format_count, format_size
from gradaccum.peaks import Peaks, parameters_for
from gradaccum.units import System, system_of

MOST_HELPS = 3


def _ways(values: Values, allowed: dict[str, tuple[str, ...]]) -> list[planner.Way]:
    """Every combination of the allowed switches; without a model there is only one."""
    g = replicas(values)
    per_replica = values["effective_batch"] // g
    if not has_model(values):
        need = planner.Linear(values["fixed_memory"], values["activation_per_sample"])
        return [planner.Way(need, costs.without_model(per_replica, Fraction(values["half_utilisation_batch"])))]
    first = {name: choices[0] for name, choices in allowed.items()}
    run = planned(Values({**values, **first, "replicas": g, "micro_batch": 1, "accumulation_steps": 1}))
    device = costs.Device(*(Fraction(values[name]) for name in ("compute_rate", "memory_bandwidth", "network_bandwidth")))
    # All ways of one method train the same weights.
    settings = {method: replace(run.setting, method=method) for method in allowed["method"]}
    parameters = {method: parameters_for(replace(run, setting=setting)) for method, setting in settings.items()}
    ways = []
    for chosen in product(*allowed.values()):
        method, optimizer, checkpointing, loss, sharding = chosen
        setting = replace(settings[method], checkpointing=checkpointing, loss=loss)
        peaks = Peaks(replace(run, setting=setting, optimizer=optimizer, sharding=sharding), parameters[method])
        cost = costs.of_run(peaks.plan, peaks.fixed, peaks.parameters, per_replica, device)
        places = tuple(allowed[name].index(choice) for name, choice in zip(SWITCHES, chosen, strict=True))
        ways.append(planner.Way(peaks, cost, tuple(zip(SWITCHES, chosen, strict=True)), places[:2], places[2:]))
    return ways


def _answer(values: Values) -> Answer:
    g, batch = replicas(values), values["effective_batch"]
    system = system_of(values.units.get("memory_budget", "GiB"))
    part = _not_divisible(values) if batch % g else _planned(values, system)
    outputs, notes = part.outputs | {"replicas": g}, part.notes
    if has_model(values):
        outputs["tokens_per_update"] = batch * values["sequence_length"]
        notes = [*notes, *model_notes(values), *_unused(values), Note("costs_are_a_model"), Note("traced_not_measured")]
    return Answer(
        outputs,
        part.steps,
        notes + part.recipe.notes,
        derived={"replicas": g},
        system=system,
        quiet=_quiet(values, outputs["verdict"]),
        worded=part.recipe.worded,
    )


def _quiet(values: Values, verdict: str) -> frozenset[str]:
    """Columns that would say the same in every line."""
    if verdict == "not_divisible":
        return frozenset({"replicas"})
    switches = allowed_switches(values).items() if verdict == "fits" else ()
    return frozenset({"effective_batch", *(name for name, choices in switches if len(choices) == 1)})


def _unused(values: Values) -> list[Note]:
    """What the request holds and the answer does not look at."""
    notes = []
    if {"activation_per_sample", "fixed_memory"} & values.given:
        notes.append(Note("model_over_sizes"))
    if any(values[name] > 1 for name in accumulation.PARALLEL_DEGREES):
        notes.append(Note("parallel_degrees_not_in_memory"))
    return notes


@dataclass(frozen=True)
class Part:
    """An answer in the making."""

    outputs: dict[str, Any]
    steps: list[Step]
    notes: list[Note]
    recipe: Recipe = field(default_factory=Recipe)


def _planned(values: Values, system: System) -> Part:
    """Plans for a batch that divides."""
    per_replica, budget = values["effective_batch"] // replicas(values), budget_of(values)
    ways = _ways(values, allowed_switches(values))
    found = planner.search(ways, per_replica, budget, values["most_plans"])
    if not found:
        return _cannot_help(values, ways, budget, system)
    best = found[0]
    largest: dict[planner.Way, planner.Candidate] = {}
    for one in found:
        largest.setdefault(one.way, one)
    above = [planner.next_larger(one, per_replica) for one in largest.values()]
    outputs: dict[str, Any] = {
        "verdict": "fits",
        "micro_batch": best.micro_batch,
        "accumulation_steps": best.accumulation_steps,
        "peak": best.peak,
        "headroom": budget - best.peak,
        "relative_time": best.time.total,
        "plans": plan_rows(found, values["effective_batch"], budget),
    }
    if lacking := [overflow(one, budget) for one in above if one]:
        outputs["overflowing"] = lacking
    return Part(outputs, _steps(values, best, budget, system), [], recipe(values, best))


def _steps(values: Values, best: planner.Candidate, budget: int, system: System) -> list[Step]:
    batch, g = values["effective_batch"], replicas(values)
    n, b, a = (tex.count(number) for number in (batch // g, best.micro_batch, best.accumulation_steps))
    peak = f"{tex.near_size(best.peak, system)} \\le {tex.near_size(budget, system)}"
    if not has_model(values):
        fixed, one = (tex.near_size(values[name], system) for name in ("fixed_memory", "activation_per_sample"))
        peak = rf"{fixed} + {b} \cdot {one} {tex.equals_size(best.peak, system)} \le {tex.near_size(budget, system)}"
    parts = " + ".join(tex.number(part) for part in best.time.parts if part)
    return [
        Step(rf"\frac{{E}}{{g}} = \frac{{{tex.count(batch)}}}{{{tex.count(g)}}} = {n}", "samples_of_a_replica"),
        Step(rf"a = \frac{{{n}}}{{{b}}} = {a}", "steps_of_the_first_plan"),
        Step(peak, "peak_of_the_first_plan"),
        Step(rf"T = {parts} {tex.equals_number(best.time.total)}", "time_of_the_first_plan"),
    ]


def _not_divisible(values: Values) -> Part:
    """The nearest batches that do divide, each with its best plan, or with one sample at a time where none fits."""
    g, batch = replicas(values), values["effective_batch"]
    nearest = []
    for split in accumulation.nearest_splits({"effective_batch": batch, "micro_batch": 1, "replicas": g}, "accumulation_steps"):
        other = Values({**values, "effective_batch": split["effective_batch"]})
        found = planner.search(_ways(other, allowed_switches(other)), split["effective_batch"] // g, budget_of(values), 1)
        chosen = (
            {"micro_batch": c.micro_batch, "accumulation_steps": c.accumulation_steps} if (c := next(iter(found), None)) else {}
        )
        nearest.append(split | chosen)
    named = {"wanted": format_count(batch), "replicas": format_count(g)}
    named["nearest"] = ", ".join(format_count(split["effective_batch"]) for split in nearest)
    return Part({"verdict": "not_divisible", "nearest": nearest}, [], [Note("plan_not_divisible", named)])


def _cannot_help(values: Values, ways: list[planner.Way], budget: int, system: System) -> Part:
    """By how much even the least falls short, and which switches outside the allowed ones would make it fit."""
    per_replica = values["effective_batch"] // replicas(values)
    least = planner.smallest(ways, per_replica)
    short = least.peak - budget
    said = {
        "need": format_size(least.peak, system),
        "capacity": format_size(budget, system),
        "lack": format_size(short, system),
    }
    outputs: dict[str, Any] = {
        "verdict": "accumulation_cannot_help",
        "shortfall": short,
        "smallest_peak": least.peak,
        "overflowing": [overflow(least, budget)],
    }
    notes = [Note("plan_cannot_help", said)]
    if not has_model(values):
        alone = values["fixed_memory"] >= budget
        notes.append(Note("plan_fixed_memory_overflows" if alone else "plan_sample_overflows", said))
        return Part(outputs, [], notes)
    allowed = allowed_switches(values)
    everything = allowed_switches(values, all_of_them=True)
    wider = _ways(values, everything) if everything != allowed else ways
    helps = _helps(wider, allowed, per_replica, budget)
    if helps:
        outputs["helps"] = [plan_row(c, values["effective_batch"], budget, would_fit(c.way, allowed)) for c in helps]
        notes.append(Note("plan_would_fit", {"changes": changes_of(helps[0].way, allowed)}))
    else:
        least = planner.smallest(wider, per_replica) if wider is not ways else least
        notes.append(Note("plan_nothing_helps", {"need": format_size(least.peak, system)}))
    return Part(outputs, [], notes)


def _helps(
    wider: list[planner.Way], allowed: dict[str, tuple[str, ...]], per_replica: int, budget: int
) -> list[planner.Candidate]:
    """The fastest plans that leave the allowed switches in as few places as it takes."""
    for number in range(1, len(SWITCHES) + 1):
        ways = [way for way in wider if len(changes_of(way, allowed)) == number]
        best = (next(iter(planner.search([way], per_replica, budget, 1)), None) for way in ways)
        found: dict[object, planner.Candidate] = {}
        for one in sorted((c for c in best if c), key=planner.rank):
            found.setdefault(changes_of(one.way, allowed), one)
        if found:
            return list(found.values())[:MOST_HELPS]
    return []


CALCULATOR = Calculator(
    name="plan",
    fields=FIELDS,
    outputs=(
        Output("verdict", "verdict", primary=True),
        Output("micro_batch", "count", "b", primary=True),
        Output("accumulation_steps", "count", "a", primary=True),
        Output("shortfall", "size", primary=True),
        Output("peak", "size"),
        Output("headroom", "size"),
        Output("relative_time", "number", "T"),
        Output("smallest_peak", "size"),
        Output("replicas", "count", "g"),
        Output("tokens_per_update", "count", r"E \cdot s"),
        Output("plans", "rows"),
        Output("overflowing", "rows"),
        Output("helps", "rows"),
        Output("nearest", "rows"),
        Output("files", "files"),
    ),
    answer=_answer,
    checks=CHECKS,
    pictures=("frontier",),
)
