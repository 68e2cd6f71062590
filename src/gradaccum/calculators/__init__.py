"""The calculators, by name. To add one: write its module, list it here, and give it its words in ``messages``."""

from gradaccum.calculators import (
    accumulation,
    batch_split,
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
    for module in (accumulation, batch_split, updates, learning_rate, loss_weights, training_memory, lora, plan, recipe)
}

__all__ = ["CALCULATORS", "Calculator", "Field", "Output"]
