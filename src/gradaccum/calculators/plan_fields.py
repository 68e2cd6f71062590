"""What ``plan`` takes: the fields of ``training_memory``, whose switches may have several values, and those of time."""

from __future__ import annotations

from dataclasses import replace

from gradaccum import costs, models
from gradaccum.calculators.accumulation import WORLD, WORLD_CHECK, replicas
from gradaccum.calculators.declaration import ANY, Check, Field, Values
from gradaccum.calculators.lora import check_targets
from gradaccum.calculators.training_memory import FIELDS as TRAINING
from gradaccum.calculators.training_memory import available, check_attention
from gradaccum.errors import InputError
from gradaccum.recipes import FRAMEWORKS

SWITCHES = ("method", "optimizer", "checkpointing", "loss", "sharding")
"""The switches a search may try. The first two change the training itself, so the reader's order goes before time there."""

SEARCHED = {"optimizer": ("adamw", "adamw-8bit")}
"""What ``any`` tries: of the optimizers only those that compute the same update."""


def _may_vary(field: Field) -> Field:
    """A switch of ``training_memory`` as one that may have several values."""
    default = ANY if field.name == "checkpointing" else field.default
    searched = SEARCHED.get(field.name, field.choices)
    return replace(field, kind="choices", default=default, example=default, searched=searched)


def _fields() -> tuple[Field, ...]:
    known = {field.name: field for field in TRAINING}
    switches = {name: _may_vary(known[name]) for name in SWITCHES}
    asked = ("model", "config", "effective_batch", "replicas", "gpu", "memory_budget", "sequence_length")
    order = (*asked, "method", "checkpointing", "recipe", "optimizer", "loss", "sharding")
    main = (
        known
        | switches
        | {
            "effective_batch": Field("effective_batch", "count", "E", required=True, example="512"),
            "sequence_length": replace(known["sequence_length"], required=False, example="2048"),
            "replicas": replace(known["replicas"], example="2"),
            "gpu": replace(known["gpu"], example="RTX 4090"),
            "memory_budget": replace(known["memory_budget"], group="main"),
            "method": replace(switches["method"], example="qlora"),
            "recipe": Field("recipe", "choice", choices=tuple(FRAMEWORKS), example="trainer"),
        }
    )
    left_out = {"micro_batch", "accumulation_steps", *order}
    return (
        *(main[name] for name in order),
        *(replace(field, group="more") for field in TRAINING if field.name not in left_out),
        Field("activation_per_sample", "size", "A", group="more"),
        Field("fixed_memory", "size", group="more"),
        *WORLD,
        Field("compute_rate", "number", "F", default=costs.COMPUTE_RATE, group="more"),
        Field("memory_bandwidth", "number", default=costs.MEMORY_BANDWIDTH, group="more"),
        Field("network_bandwidth", "number", default=costs.NETWORK_BANDWIDTH, group="more"),
        Field("half_utilisation_batch", "number", default=costs.HALF_UTILISATION_BATCH, group="more"),
        Field("most_plans", "count", default=12, group="more", least=1, most=100),
    )


FIELDS = _fields()
SEARCHABLE = {field.name: field for field in FIELDS if field.searched}


def has_model(values: Values) -> bool:
    """Whether the plan is for a model, and not for sizes alone."""
    return "model" in values or "config" in values


def allowed_switches(values: Values, *, all_of_them: bool = False) -> dict[str, tuple[str, ...]]:
    """The values each switch may take, the reader's first; with one replica there is nothing to shard."""
    allowed = {}
    for name in SWITCHES:
        searched, chosen = SEARCHABLE[name].searched, values[name]
        given = searched if chosen == ANY else (chosen,) if isinstance(chosen, str) else tuple(chosen)
        allowed[name] = tuple(dict.fromkeys((*given, *searched))) if all_of_them else given
    if replicas(values) == 1:
        allowed["sharding"] = allowed["sharding"][:1]
    return allowed


def budget_of(values: Values) -> int:
    """The memory to fit into; a request without any is refused before."""
    budget = available(values)
    if budget is None:
        raise InputError("memory_budget", "missing", "budget_or_gpu")
    return budget


def _check_model(values: Values) -> None:
    """A model with its sequence length, or the sizes that stand for one."""
    if has_model(values):
        models.check(values)
        needed = ["sequence_length"]
    elif "activation_per_sample" in values or "fixed_memory" in values:
        needed = ["activation_per_sample", "fixed_memory"]
    else:
        raise InputError("model", "missing", "model_or_sizes")
    if faults := [InputError(name, "missing", "field") for name in needed if name not in values]:
        raise ExceptionGroup("missing fields", faults)


def _check_budget(values: Values) -> None:
    budget_of(values)


def _check_targets(values: Values) -> None:
    # Whatever the method: where nothing fits, adapters are tried as a way out.
    if has_model(values):
        check_targets(values)


CHECKS = (
    Check(("model", "config", "sequence_length", "activation_per_sample", "fixed_memory"), _check_model),
    Check(("memory_budget", "gpu"), _check_budget),
    Check(("model", "config", "method", "targets"), _check_targets),
    Check(("attention", "precision"), check_attention),
    WORLD_CHECK,
)
