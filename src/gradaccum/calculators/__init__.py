"""The calculators, by name. To add one: write its module, list it here, and give it its words in ``messages``."""

from gradaccum.calculators import (
    accumulation,
    batch_split,
    experiment,
    learning_rate,
    lora,
    loss_weights,
    plan,
    recipe,
    training_memory,
    updates,
)
from gradaccum.calculators.declaration import Calculator, Field, Output

CALCULATORS: dict[str, Calculator] = {
    module.CALCULATOR.name: module.CALCULATOR
    for module in (
        accumulation,
        batch_split,
        updates,
        learning_rate,
        loss_weights,
        training_memory,
        lora,
        plan,
        recipe,
        experiment,
    )
}

FORMS: dict[str, Calculator] = {
    one.stem.partition(".")[2]: one
    for calculator in CALCULATORS.values()
    for one in (calculator.variants or {calculator.name: calculator}).values()
    if one.topic != "list"
}
"""What stands in one form each: every calculator, and of one that answers several questions every question."""

__all__ = ["CALCULATORS", "FORMS", "Calculator", "Field", "Output"]
