"""The first plan as settings for a framework."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gradaccum.calculators.accumulation import replicas
from gradaccum.calculators.declaration import Note, Setting, Values
from gradaccum.calculators.plan_fields import has_model
from gradaccum.calculators.recipe import framework_notes
from gradaccum.calculators.training_memory import adapter_files
from gradaccum.peaks import Peaks
from gradaccum.planner import Candidate
from gradaccum.recipes import FRAMEWORKS, Framework, Run, files

BY_RECIPE = {"checkpointing", "sharding"}
"""The switches that a recipe sets; the others belong to the model and the optimizer, which are the reader's."""
WITHOUT_PEFT = {"torchtune", "keras", "optax"}
"""What cannot train a model that peft has changed."""
PLAIN = {"method": "full", "optimizer": "adamw", "loss": "standard"}


@dataclass(frozen=True)
class Recipe:
    """A plan's recipe: the framework and the run, or neither where the framework cannot do what the plan needs."""

    framework: Framework | None = None
    run: Run | None = None
    notes: list[Note] = field(default_factory=list)
    adapters: list[dict[str, str]] = field(default_factory=list)

    def worded(self, language: str) -> dict[str, Any]:
        """The files, with comments in that language."""
        if self.framework is None or self.run is None:
            return {}
        return {"files": [vars(file) for file in files(self.framework, self.run, language)] + self.adapters}


def recipe(values: Values, best: Candidate) -> Recipe:
    """The recipe that a request asks for beside its plan."""
    if "recipe" not in values:
        return Recipe()
    framework, switches = FRAMEWORKS[values["recipe"]], dict(best.way.switches)
    asked = {"precision": values["precision"]} if has_model(values) else {}
    asked |= {name: choice for name, choice in switches.items() if name in BY_RECIPE}
    known = {"precision": framework.precisions, "sharding": framework.sharding}
    if lacking := tuple(Setting(name, asked[name]) for name in known if name in asked and asked[name] not in known[name]):
        return Recipe(notes=[Note("recipe_cannot", {"framework": framework.version, "settings": lacking})])
    run = Run(values["effective_batch"], best.micro_batch, best.accumulation_steps, replicas(values), **asked)
    adapters: list[dict[str, str]] = []
    if isinstance(best.way.need, Peaks) and switches["method"] != "full" and framework.name not in WITHOUT_PEFT:
        adapters = adapter_files(values, best.way.need.plan)
        del switches["method"]
    yours = tuple(Setting(name, switches[name]) for name in PLAIN if switches.get(name, PLAIN[name]) != PLAIN[name])
    notes = [Note("recipe_takes_adapters")] if adapters else []
    notes += [Note("recipe_leaves_to_you", {"settings": yours})] if yours else []
    return Recipe(framework, run, notes + framework_notes(framework, run), adapters)
