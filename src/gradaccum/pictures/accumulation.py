"""Pictures of accumulation: the whole batch at once beside one micro-batch, and the saw-tooth of one window."""

from __future__ import annotations

from typing import Any

from gradaccum import figures, window
from gradaccum.calculators.declaration import Answer, Values
from gradaccum.messages import text
from gradaccum.pictures.parts import device_limit, scaled


def capacity(values: Values, answer: Answer, language: str) -> dict[str, Any] | None:
    """Activations of the whole batch at once beside those of one micro-batch, against a device's memory."""
    if "activation_memory" not in answer.outputs:
        return None
    whole, micro = answer.outputs["whole_batch_activation_memory"], answer.outputs["activation_memory"]
    unit = figures.size_in_unit(whole, answer.system)[1]
    shown = {"whole": figures.format_size(whole, answer.system), "micro": figures.format_size(micro, answer.system)}
    line = device_limit(values["gpu"], unit) if "gpu" in values else None
    return {
        "unit": unit,
        "title": text("picture.capacity.title", language),
        "summary": text("picture.capacity.summary", language, **shown)
        + (" " + text("picture.capacity.limit", language, gpu=line["label"], capacity=line["text"]) if line else ""),
        "axis": text("picture.axis.activations", language, unit=unit),
        "bars": [
            {"id": name, "label": text(f"picture.capacity.{name}", language), "value": scaled(size, unit), "text": shown[name]}
            for name, size in (("whole", whole), ("micro", micro))
        ],
        "limit": line,
    }


def accumulation_window(values: Values, answer: Answer, language: str) -> dict[str, Any] | None:
    """The saw-tooth of one accumulation window."""
    if "activation_memory" not in answer.outputs:
        return None
    steps, memory = values["accumulation_steps"], answer.outputs["activation_memory"]
    unit = figures.size_in_unit(memory, answer.system)[1]
    peak = figures.format_size(memory, answer.system)
    segments = [
        {
            "phase": s.phase,
            "micro_batch": s.micro_batch,
            "from": s.start,
            "to": s.end,
            "activations": [scaled(a, unit) for a in s.activations],
            "gradients": list(s.gradients),
            "weights": s.weights,
            "label": text(
                f"phase.{s.phase}",
                language,
                micro_batch=figures.format_count(s.micro_batch),
                accumulation_steps=figures.format_count(steps),
            ),
            "line": "backward" if s.phase == "skipped" else s.phase,
        }
        for s in window.segments(steps, memory)
    ]
    return {
        "unit": unit,
        "title": text("picture.window.title", language),
        "summary": text("picture.window.summary", language, peak=peak, accumulation_steps=figures.format_count(steps)),
        "axis": text("picture.axis.activations", language, unit=unit),
        "time_axis": text("picture.axis.time", language),
        "peak": {"value": scaled(memory, unit), "text": peak, "label": text("picture.window.peak", language)},
        "lanes": {lane: text(f"picture.lane.{lane}", language) for lane in ("gradients", "weights")},
        "segments": segments,
    }
