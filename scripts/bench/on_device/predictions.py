"""What the calculator says about a measured model, asked like any reader asks: through the request contract."""

from typing import Any

from gradaccum.api import answer


def prediction(config: dict[str, Any], length: int, micro_batch: int, **inputs: Any) -> dict[str, Any]:
    """The outputs of `training_memory`; a refusal is an error here."""
    request = {"config": config, "sequence_length": length, "micro_batch": micro_batch, **inputs}
    response = answer({"calculator": "training_memory", "inputs": request, "language": "en"})
    if not response["ok"]:
        raise ValueError(f"training_memory refused {request}: {response['errors']}")
    outputs: dict[str, Any] = response["outputs"]
    return outputs
