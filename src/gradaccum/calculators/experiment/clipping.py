"""Experiment ``clipping``: once on the mean, or too early."""

from __future__ import annotations

from typing import Any

from gradaccum import tex
from gradaccum.calculators.declaration import Answer, Calculator, Check, Field, Note, Output, Step, Values
from gradaccum.calculators.experiment.inputs import check_rectangle, number, table
from gradaccum.drawing import Drawing, Series
from gradaccum.experiments import clipping, vectors


def _answer(values: Values) -> Answer:
    gradients, limit = values["gradients"], values["limit"]
    a = len(gradients)
    mean, right = vectors.mean(gradients), clipping.once(gradients, limit)
    buffer = clipping.buffer_each_time(gradients, limit, a if values["divided"] else 1)
    alone = clipping.each_alone(gradients, limit)
    scaled = clipping.before_unscaling(gradients, limit, values["loss_scale"])
    outputs: dict[str, Any] = {
        "right_gradient": right,
        "wrong_buffer_clipped": buffer,
        "wrong_each_clipped": alone,
        "mean_norm": vectors.norm(mean),
        "right_norm": vectors.norm(right),
        "wrong_norm_before_unscaling": vectors.norm(scaled),
    }
    angle = vectors.cosine(buffer, right)
    outputs |= {} if angle is None else {"gradient_cosine": angle}
    c, s = tex.number(limit), tex.number(values["loss_scale"])
    steps = [
        Step(
            rf"\bar{{g}} = \frac{{1}}{{a}} \sum_i g_i = {tex.vector(mean)}, "
            rf"\quad |\bar{{g}}| {tex.equals_number(vectors.norm(mean))}",
            "clipping_mean",
        ),
        Step(rf"\bar{{g}} \cdot \min\left(1, \frac{{{c}}}{{|\bar{{g}}|}}\right) = {tex.vector(right)}", "clipping_right"),
        Step(
            rf"G \leftarrow \mathrm{{clip}}(G + g_i, {c}) \quad \Rightarrow \quad G = {tex.vector(buffer)}", "clipping_buffer"
        ),
        Step(rf"\frac{{1}}{{a}} \sum_i \mathrm{{clip}}(g_i, {c}) = {tex.vector(alone)}", "clipping_alone"),
        Step(
            rf"\frac{{1}}{{{s}}} \left|\mathrm{{clip}}({s} \cdot \bar{{g}}, {c})\right| "
            rf"{tex.equals_number(vectors.norm(scaled))}",
            "clipping_scaled",
        ),
    ]
    arrows = [
        Series("clipped_once", "right", [vectors.plane(right)]),
        Series("buffer_clipped", "wrong", [vectors.plane(buffer)]),
        Series("each_clipped", "wrong", [vectors.plane(alone)]),
    ]
    notes = [] if vectors.norm(mean) > limit else [Note("nothing_clipped")]
    shown = {"right": vectors.norm(right), "alone": vectors.norm(alone)}
    return Answer(outputs, steps, notes, drawing=Drawing("arrows", arrows, shown, limit=limit))


CALCULATOR = Calculator(
    name="experiment",
    topic="clipping",
    fields=(
        table("gradients", "2 0; 0 2", "g_i"),
        number("limit", "1", ("0.000001", "1000000"), "c"),
        Field("divided", "flag", default=False, example="false"),
        number("loss_scale", "65536", ("1", "1000000000"), "S"),
    ),
    outputs=(
        Output("right_gradient", "vector", primary=True),
        Output("wrong_buffer_clipped", "vector", primary=True),
        Output("wrong_each_clipped", "vector"),
        Output("gradient_cosine", "number"),
        Output("mean_norm", "number"),
        Output("right_norm", "number"),
        Output("wrong_norm_before_unscaling", "number"),
    ),
    answer=_answer,
    checks=(Check(("gradients",), lambda values: check_rectangle(values, "gradients")),),
)
