"""Which recipes there are, what each framework can do, and the names by which a recipe's template knows a run."""

from __future__ import annotations

from dataclasses import dataclass

from gradaccum.recipes.template import render

PRECISIONS = ("bf16", "fp32", "bf16-mixed", "fp16-mixed", "bf16-autocast")
"""Every precision of a run; what each means is said where training memory is computed."""


@dataclass(frozen=True)
class Run:
    """What a recipe is for. ``None`` leaves a setting to the framework; ``max_grad_norm`` is a limit of the gradient's norm."""

    effective_batch: int
    micro_batch: int
    accumulation_steps: int
    replicas: int
    precision: str | None = None
    checkpointing: str | None = None
    sharding: str | None = None
    max_grad_norm: float | None = None


@dataclass(frozen=True)
class File:
    """One file of a recipe: its name, its language as highlighters call it, its text."""

    name: str
    language: str
    text: str


@dataclass(frozen=True)
class Framework:
    """A framework's recipe.

    ``version`` is the one it was run with, or read in; ``language`` that of its main file. ``sharding`` and ``precisions`` are
    what it can set, ``launcher`` starts it, and ``unsaid`` is the sharding of a run that names none.
    """

    name: str
    version: str
    language: str = "python"
    sharding: tuple[str, ...] = ("none",)
    precisions: tuple[str, ...] = PRECISIONS
    launcher: str = ""
    unsaid: str = "none"


STAGES = ("none", "zero1", "zero2", "zero3")

FRAMEWORKS = {
    framework.name: framework
    for framework in (
        Framework("pytorch", "PyTorch 2.13.0", sharding=STAGES, launcher="torchrun"),
        Framework("trainer", "Transformers 5.24.0", sharding=STAGES, launcher="torchrun"),
        Framework("accelerate", "Accelerate 1.15.0", sharding=STAGES, launcher="accelerate"),
        Framework("lightning", "Lightning 2.6.6", sharding=STAGES),
        Framework("deepspeed", "DeepSpeed 0.19.8", sharding=STAGES, launcher="deepspeed"),
        Framework(
            "fsdp2",
            "FSDP2 of PyTorch 2.13.0",
            sharding=("zero2", "zero3"),
            precisions=("bf16", "fp32", "bf16-mixed", "bf16-autocast"),
            launcher="torchrun",
            unsaid="zero3",
        ),
        Framework("torchtune", "torchtune 0.6.1", "yaml", ("none", "zero2", "zero3"), ("bf16", "fp32"), "torchtune"),
        Framework("keras", "Keras 3.15.1", precisions=("bf16", "fp32", "bf16-mixed", "fp16-mixed")),
        Framework("optax", "optax 0.2.8", precisions=("bf16", "fp32", "bf16-mixed")),
    )
}

LIGHTNING_PRECISION = {
    "bf16": "bf16-true",
    "fp32": "32-true",
    "bf16-mixed": "bf16-mixed",
    "fp16-mixed": "16-mixed",
    "bf16-autocast": "bf16-mixed",
}
KERAS_POLICY = {"bf16": "bfloat16", "fp32": "float32", "bf16-mixed": "mixed_bfloat16", "fp16-mixed": "mixed_float16"}
TORCHTUNE_DTYPE = {None: "dtype: fp32", "fp32": "dtype: fp32", "bf16": "dtype: bf16"}


def files(framework: Framework, run: Run, language: str) -> list[File]:
    """The files that make this framework train in windows of E = b * a * g samples, ready to paste.

    ``language`` is that of the comments. Does not include: the model and the data, which the reader's own code gives.

    >>> run = Run(effective_batch=16, micro_batch=2, accumulation_steps=8, replicas=1)
    >>> [file.name for file in files(FRAMEWORKS["torchtune"], run, "en")]
    ['config.yaml', 'launch.sh']
    """
    stage = sharding(framework, run)
    settings, values = _settings(framework, run, stage), _values(run, stage)

    def file(name: str, kind: str, template: str) -> File:
        return File(name, kind, render(template, settings, values, language))

    # Sharding gradients or weights is another loop in plain PyTorch: that of FSDP2.
    template = "fsdp2" if framework.name == "pytorch" and "sharded" in settings else framework.name
    found = [file("config.yaml" if framework.language == "yaml" else "train.py", framework.language, template)]
    if framework.name == "deepspeed":
        found.append(file("ds_config.json", "json", "deepspeed_config"))
    if framework.name == "trainer" and "zero" in settings:
        found.append(file("ds_config.json", "json", "trainer_deepspeed"))
    if framework.launcher and (run.replicas > 1 or framework.name in ("deepspeed", "torchtune") or "zero" in settings):
        found.append(file("launch.sh", "sh", "launch"))
    return found


def sharding(framework: Framework, run: Run) -> str:
    """The sharding of a run: what it asks for, or what the framework does when it is not asked."""
    return run.sharding or framework.unsaid


def _settings(framework: Framework, run: Run, stage: str) -> frozenset[str]:
    """The names that are on in a template's conditions."""
    precision = run.precision or ""
    conditions = {
        "many": run.replicas > 1 or (framework.name in ("pytorch", "fsdp2") and stage != "none"),
        "clip": run.max_grad_norm is not None,
        "recompute": run.checkpointing == "full",
        "precision": bool(precision),
        "half_weights": precision in ("bf16", "bf16-autocast"),
        "half_logits": precision == "bf16",
        "autocast": precision.endswith(("-mixed", "-autocast")),
        "autocast_bf16": precision in ("bf16-mixed", "bf16-autocast"),
        "any_bf16": precision.startswith("bf16"),
        # Stage 0 of DeepSpeed's bf16 mode keeps no fp32 copy of the weights; autocast does.
        "ds_bf16": precision.startswith("bf16") and (precision != "bf16-mixed" or stage != "none"),
        "zero": stage != "none",
        "sharded": stage in ("zero2", "zero3"),
        stage: True,
        precision.replace("-", "_"): bool(precision),
        framework.launcher: bool(framework.launcher),
    }
    return frozenset(name for name, on in conditions.items() if on)


def _values(run: Run, stage: str) -> dict[str, object]:
    """What stands for ``{{name}}`` in a template."""
    b, a, g = run.micro_batch, run.accumulation_steps, run.replicas
    precision = run.precision or ""
    return {
        "sizes": f"E = b · a · g = {b} · {a} · {g} = {run.effective_batch}",
        "effective_batch": run.effective_batch,
        "micro_batch": b,
        "global_micro_batch": b * g,
        "accumulation_steps": a,
        "replicas": g,
        "max_grad_norm": run.max_grad_norm,
        "zero_stage": stage[-1] if stage != "none" else 0,
        "reshard": stage == "zero3",
        "mixed_precision": "fp16" if precision == "fp16-mixed" else "bf16",
        "autocast_dtype": "torch.float16" if precision == "fp16-mixed" else "torch.bfloat16",
        "lightning_precision": LIGHTNING_PRECISION.get(precision, ""),
        "keras_policy": KERAS_POLICY.get(precision, ""),
        "torchtune_dtype": TORCHTUNE_DTYPE.get(run.precision, ""),
    }
