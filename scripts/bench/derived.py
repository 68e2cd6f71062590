"""Figures that follow from what was measured. Where there are too few points nothing follows, and nothing is given back."""

from __future__ import annotations

from typing import Any

Figures = dict[str, Any]


def dropout(measured: Figures) -> Figures:
    """How much of the gap of one draw is left when many draws are averaged.

    >>> dropout({"one_draw_gap": 0.5, "mean_gap": 0.05})
    {'mean_gap_ratio': 0.1}
    """
    if "mean_gap" not in measured:
        return {}
    return {"mean_gap_ratio": measured["mean_gap"] / measured["one_draw_gap"]}


def flat_peak(measured: Figures) -> Figures:
    """Highest over lowest peak from two accumulation steps on, less one.

    >>> flat_peak({"points": [{"accumulation_steps": 1, "peak": 60}, {"accumulation_steps": 2, "peak": 100},
    ...                       {"accumulation_steps": 4, "peak": 101}]})
    {'spread': 0.01}
    """
    peaks = [point["peak"] for point in measured.get("points", ()) if point["accumulation_steps"] >= 2]
    return {"spread": round(max(peaks) / min(peaks) - 1, 12)} if len(peaks) >= 2 else {}


def one_buffer(measured: Figures) -> Figures:
    """How far the step from one accumulation step to two is from the bytes of one gradient, as a part of these.

    >>> one_buffer({"peak_one": 100, "peak_two": 150, "gradient_bytes": 40})
    {'added_bytes': 50, 'buffer_error': 0.25}
    """
    if "peak_two" not in measured:
        return {}
    added = measured["peak_two"] - measured["peak_one"]
    return {"added_bytes": added, "buffer_error": abs(added - measured["gradient_bytes"]) / measured["gradient_bytes"]}


def summed_losses(measured: Figures) -> Figures:
    """What one more micro-batch adds to the peak of the loop that sums losses, in activations of a micro-batch.

    >>> summed_losses({"activations": 50, "points": [{"accumulation_steps": 2, "peak": 100},
    ...                                              {"accumulation_steps": 4, "peak": 200}]})
    {'growth': 1.0}
    """
    points = measured.get("points", ())
    if len(points) < 2:
        return {}
    first, last = points[0], points[-1]
    steps = last["accumulation_steps"] - first["accumulation_steps"]
    return {"growth": (last["peak"] - first["peak"]) / steps / measured["activations"]}


def affine(measured: Figures) -> Figures:
    """The line through the first two points above one sample, how far the others are from it, and its slope from two others.

    >>> points = [{"micro_batch": b, "saved": 7 + 10 * b, "peak": 50 + 20 * b} for b in (2, 3, 8)]
    >>> affine({"points": points, "ledger_slope": 10, "dry_run_slope": 8})
    {'slope': 10, 'constant': 7, 'saved_deviation': 0, 'peak_deviation': 0.0, 'ledger_gap': 0.0, 'dry_run_gap': 0.25}
    """
    points = measured.get("points", ())
    if len(points) < 3:
        return {}
    figures: Figures = {}
    slope, constant = _line(points, "saved")
    figures |= {"slope": slope, "constant": constant, "saved_deviation": _deviation(points, "saved")}
    figures["peak_deviation"] = _deviation(points, "peak") / points[-1]["peak"]
    for name in ("ledger", "dry_run"):
        if said := measured.get(f"{name}_slope"):
            figures[f"{name}_gap"] = abs(slope / said - 1)
    return figures


def _line(points: list[Figures], name: str) -> tuple[Any, Any]:
    (one, first), (two, second) = ((point["micro_batch"], point[name]) for point in points[:2])
    slope = (second - first) // (two - one)
    return slope, first - slope * one


def _deviation(points: list[Figures], name: str) -> Any:
    slope, constant = _line(points, name)
    return max(abs(point[name] - constant - slope * point["micro_batch"]) for point in points)


def predicted(measured: Figures) -> Figures:
    """The largest distance of a measured peak from the predicted one, as a part of the predicted one.

    >>> predicted({"rows": [{"predicted": 100, "peak": 103}, {"predicted": 100, "peak": 99}, {"predicted": 9}]})
    {'configurations': 2, 'largest_gap': 0.03}
    """
    gaps = [abs(row["peak"] / row["predicted"] - 1) for row in measured.get("rows", ()) if "peak" in row]
    return {"configurations": len(gaps), "largest_gap": round(max(gaps), 12)} if gaps else {}


def throughput(measured: Figures) -> Figures:
    """Time of an update in the smallest micro-batches over the time of one in the largest, both medians.

    >>> throughput({"points": [{"micro_batch": 1, "median": 6.0}, {"micro_batch": 8, "median": 2.0}]})
    {'slowdown': 3.0}
    """
    points = measured.get("points", ())
    return {"slowdown": points[0]["median"] / points[-1]["median"]} if len(points) >= 2 else {}


def fsdp2(measured: Figures) -> Figures:
    """The share of a gradient that one rank keeps when every micro-batch is reduced.

    >>> fsdp2({"sharded_bytes": 50, "parameter_bytes": 100})
    {'sharded_fraction': 0.5}
    """
    if "sharded_bytes" not in measured:
        return {}
    return {"sharded_fraction": measured["sharded_bytes"] / measured["parameter_bytes"]}
