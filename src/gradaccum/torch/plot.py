"""The saw-tooth as PNG, drawn by matplotlib. Its words are English: matplotlib does not join Arabic letters."""

from pathlib import Path
from typing import Any

from gradaccum import figures
from gradaccum.dryrun.picture import COLOURS, LINE, kind_of, ticks
from gradaccum.messages import text


def png(path: Path, outputs: dict[str, Any]) -> None:
    """Draw the picture of a dry run's outputs into a file."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - the tests of the package import this without it

    timeline = outputs["timeline"]
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.add_subplot()
    seen = set()
    for phase in timeline["phases"]:
        kind = kind_of(phase["phase"])
        label = None if kind in seen else text(f"picture.dry_run.{kind}", "en")
        axes.axvspan(phase["from"], phase["to"], color=COLOURS[kind], label=label)
        seen.add(kind)
    axes.plot(*zip(*timeline["points"], strict=True), color=LINE, linewidth=1.2)
    sizes = ticks(max(size for _, size in timeline["points"]))
    axes.set_yticks(sizes, [figures.format_size(size, "binary") for size in sizes])
    axes.set_xticks([])
    axes.set_xlim(0, timeline["phases"][-1]["to"])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(text("picture.dry_run.time", "en"))
    axes.set_title(text("picture.dry_run.title", "en", peak=figures.format_size(outputs["peak"], "binary")))
    axes.legend(loc="upper left", ncols=len(seen), fontsize="small")
    figure.savefig(path, dpi=160)
