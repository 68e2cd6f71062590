"""The dry run as a person asks for it: one window and two updates of a real model, on shapes only.

It is declared like a calculator, but it is none: it needs PyTorch and a process of its own, so it answers on the command line
and from Python, not in a browser. Nothing here imports torch; what does is in ``gradaccum.torch``.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from gradaccum import api, figures, jsontext
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.calculators.training_memory import ATTENTIONS, PRECISIONS, peak_step
from gradaccum.dryrun import picture, process
from gradaccum.errors import InputError

FIELDS = (
    Field("source", "text", required=True, example="config.json"),
    Field("micro_batch", "count", "b", default=1),
    Field("sequence_length", "count", "s"),
    Field("accumulation_steps", "count", "a", default=1),
    Field("precision", "choice", choices=PRECISIONS),
    Field("attention", "choice", choices=ATTENTIONS),
    Field("checkpointing", "choice", default="none", choices=("none", "full")),
    Field("optimizer", "text", default="AdamW"),
    Field("foreach", "flag", default=True),
    Field("rank", "count", "r"),
    Field("targets", "names", choices=("all-linear", "attention")),
    Field("device", "choice", default="auto", choices=("auto", "cuda", "meta")),
    Field("plot", "text", example="out.svg"),
)


def _check_attention(values: Values) -> None:
    """Flash kernels know half precision only."""
    if values.get("attention") == "flash" and values.get("precision") == "fp32":
        raise InputError("attention", "unknown_value", "flash_in_fp32")


def respond(request: str) -> str:
    """The answer to a request for this calculator alone, like ``api.run``; ``plot`` names a file to draw."""
    asked = jsontext.loads(request)
    known = {CALCULATOR.name: CALCULATOR}
    response = api.answer(asked, known)
    plot = response.get("inputs", {}).get("plot")
    if plot and "timeline" in response["outputs"]:
        try:
            picture.save(Path(plot), response["outputs"], asked.get("language", "en"))
        except OSError as error:
            fault = InputError("plot", "unknown_value", "not_written", value=plot, reason=error.strerror)
            response = api.refusal(CALCULATOR.name, [fault], asked.get("language", "en"))
    return jsontext.dumps(response)


def _check_plot(values: Values) -> None:
    """Known before the run, not after it: the kind of file, and what draws it."""
    if "plot" not in values:
        return
    kind = Path(values["plot"]).suffix.casefold()
    if kind not in picture.KINDS:
        raise InputError("plot", "unknown_value", "picture_kind", value=values["plot"], known=" ".join(picture.KINDS))
    if kind == ".png" and importlib.util.find_spec("matplotlib") is None:
        raise InputError("plot", "missing", "package", value="matplotlib")


def _answer(values: Values) -> Answer:
    found = process.run({name: value for name, value in values.items() if name != "plot"})
    return Answer(found, _steps(found), _notes(values, found), system="binary")


def _steps(found: dict[str, Any]) -> list[Step]:
    if "phases" not in found:
        return []
    top = max(found["phases"], key=lambda row: row["peak"])
    return [peak_step(top["phase"], top["peak"], top["parts"])]


def _notes(values: Values, found: dict[str, Any]) -> list[Note]:
    notes = [] if found.get("complete") else [Note("dry_run_incomplete")]
    if found.get("engine") == "meta":
        notes.append(Note(f"dry_run_meta_{found.get('reason', 'asked_for')}"))
        if values.get("precision") not in (None, "bf16", "fp32"):
            notes.append(Note("dry_run_cpu_autocast"))
    if not found.get("affine", True):
        notes.append(Note("dry_run_not_affine"))
    if "plan" in found:
        notes += _plan_notes(found["plan"])
    return [*notes, Note("dry_run_traced")]


def _plan_notes(plan: dict[str, int]) -> list[Note]:
    sizes = f"--activation-per-sample '{plan['activation_per_sample']} B' --fixed-memory '{plan['fixed_memory']} B'"
    notes = [Note("dry_run_plan", {"command": f"gradaccum plan {sizes} --effective-batch E --memory-budget SIZE"})]
    if plan["floor"] > plan["fixed_memory"] + plan["activation_per_sample"]:
        notes.append(Note("dry_run_floor", {"floor": figures.format_size(plan["floor"], "binary")}))
    return notes


CALCULATOR = Calculator(
    name="dry_run",
    fields=FIELDS,
    outputs=(
        Output("peak", "size", primary=True),
        Output("peak_phase", "phase", primary=True),
        Output("parameters", "count"),
        Output("trainable_parameters", "count"),
        Output("weights", "size", "W"),
        Output("gradients", "size", "G"),
        Output("optimizer_states", "size", "S"),
        Output("activation_per_sample", "size", "A"),
        Output("activation_constant", "difference"),
        Output("activations", "size"),
        Output("phases", "rows"),
        Output("modules", "rows"),
    ),
    answer=_answer,
    checks=(Check(("attention", "precision"), _check_attention), Check(("plot",), _check_plot)),
)
