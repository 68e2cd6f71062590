"""What each installed framework does with a window by itself, seen from the gradients that its optimizer steps find.

Every probe uses the framework as its own guide does, with a mean loss and no correction.
"""

from __future__ import annotations

import importlib.metadata
import os
import tempfile
from collections.abc import Callable
from typing import Any, Protocol
from unittest import mock

import torch
import torch.distributed as dist
from torch import nn

from frameworks import running, toy

Probe = dict[str, Any]
ONE_RANK = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}


def _summary(found: list[dict[str, float]], tokens: list[dict[str, float]], buffer: str) -> Probe:
    """What can be written down: every update's gradient, the schedule's steps before it, the unequal window's gradient."""
    return {
        "updates": [update["gradient"] for update in found],
        "schedule": [update["schedule"] for update in found],
        "unequal": tokens[0]["gradient"],
        "buffer": buffer,
    }


def _buffer(model: nn.Module) -> str:
    """The type in which the gradients of bf16 weights add up."""
    return str(next(model.parameters()).grad.dtype).removeprefix("torch.")  # type: ignore[union-attr]


class _Run(Protocol):
    """What a framework shows of a run of so many accumulation steps and epochs, and the model it leaves behind."""

    def __call__(
        self, shown: list[Any], steps: int, epochs: int, dtype: torch.dtype = torch.float32
    ) -> tuple[list[dict[str, float]], nn.Module]: ...


def _observed(run: _Run) -> Probe:
    """The same three questions to every loop: windows and counters, unequal micro-batches, the buffer in half precision."""
    return _summary(
        run(toy.SHOWN, toy.STEPS, toy.EPOCHS)[0],
        run(toy.UNEQUAL, 2, 1)[0],
        _buffer(run(toy.SHOWN, toy.STEPS, 1, torch.bfloat16)[1]),
    )


def pytorch() -> Probe:
    """The loop that many tutorials print: divide by the steps, step when the count divides."""

    def run(
        shown: list[Any], steps: int, epochs: int, dtype: torch.dtype = torch.float32
    ) -> tuple[list[dict[str, float]], nn.Module]:
        model = toy.Weight().to(dtype)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        schedule = toy.schedule_of(optimizer)
        with toy.recorded([schedule]) as found:
            for _ in range(epochs):
                for index, batch in enumerate(toy.loader(shown)):
                    model(batch.to(dtype)).backward()
                    if (index + 1) % steps == 0:
                        optimizer.step()
                        schedule.step()
                        optimizer.zero_grad(set_to_none=False)
        return found, model

    return _observed(run)


def accelerate() -> Probe:
    """``accumulate`` around the pass, everything prepared."""
    from accelerate import Accelerator  # noqa: PLC0415 - each probe imports its own framework
    from accelerate.state import AcceleratorState, GradientState  # noqa: PLC0415

    def run(
        shown: list[Any], steps: int, epochs: int, dtype: torch.dtype = torch.float32
    ) -> tuple[list[dict[str, float]], nn.Module]:
        AcceleratorState._reset_state(reset_partial_state=True)  # noqa: SLF001 - one process, several runs
        GradientState._reset_state()  # noqa: SLF001
        accelerator = Accelerator(gradient_accumulation_steps=steps, cpu=True)
        model = toy.Weight().to(dtype)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        schedule = toy.schedule_of(optimizer)
        model, optimizer, loader, prepared = accelerator.prepare(model, optimizer, toy.loader(shown), schedule)
        with toy.recorded([schedule]) as found:
            for _ in range(epochs):
                for batch in loader:
                    with accelerator.accumulate(model):
                        accelerator.backward(model(batch.to(dtype)))
                        optimizer.step()
                        prepared.step()
                        optimizer.zero_grad(set_to_none=False)
        return found, model

    return _observed(run)


def lightning() -> Probe:
    """A module that returns a mean loss, and ``accumulate_grad_batches``."""
    import lightning as L  # noqa: N812, PLC0415 - its own name for itself

    schedules: list[Any] = []

    class Module(L.LightningModule):
        def __init__(self, dtype: torch.dtype) -> None:
            super().__init__()
            self.inner = toy.Weight().to(dtype)

        def training_step(self, batch: torch.Tensor) -> torch.Tensor:
            return self.inner(batch.to(self.inner.weight.dtype))

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.SGD(self.parameters(), lr=0.0)
            schedules[:] = [toy.schedule_of(optimizer)]
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedules[0], "interval": "step"}}

    def run(
        shown: list[Any], steps: int, epochs: int, dtype: torch.dtype = torch.float32
    ) -> tuple[list[dict[str, float]], nn.Module]:
        module = Module(dtype)
        quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
        trainer = L.Trainer(accelerator="cpu", devices=1, accumulate_grad_batches=steps, max_epochs=epochs, **quiet)
        with toy.recorded(schedules) as found:
            trainer.fit(module, toy.loader(shown))
        return found, module

    return _observed(run)


def trainer() -> Probe:
    """A model that takes ``num_items_in_batch``, as the language models of Transformers do."""
    from transformers import Trainer, TrainingArguments  # noqa: PLC0415

    class Model(toy.Weight):
        def forward(self, x: Any, labels: Any = None, num_items_in_batch: Any = None, **_: Any) -> Any:
            # The labels only say how many targets there are.
            return {"loss": (self.weight * x).sum() / (labels.numel() if num_items_in_batch is None else num_items_in_batch)}

    def collate(rows: list[Any]) -> dict[str, torch.Tensor]:
        x = torch.tensor(rows[0]["x"]).reshape(1, -1)
        return {"x": x, "labels": torch.zeros_like(x, dtype=torch.long)}

    class InOrder(Trainer):
        def _get_train_sampler(self, *_: Any) -> Any:
            return torch.utils.data.SequentialSampler(self.train_dataset)

    def run(
        shown: list[Any], steps: int, epochs: int, dtype: torch.dtype = torch.float32
    ) -> tuple[list[dict[str, float]], nn.Module]:
        model = Model().to(dtype)
        with tempfile.TemporaryDirectory() as folder:
            arguments = TrainingArguments(
                folder,
                per_device_train_batch_size=1,
                gradient_accumulation_steps=steps,
                num_train_epochs=epochs,
                learning_rate=0.0,
                max_grad_norm=0.0,
                optim="sgd",
                use_cpu=True,
                report_to="none",
                save_strategy="no",
                logging_strategy="no",
                disable_tqdm=True,
                remove_unused_columns=False,
            )
            made = InOrder(model, arguments, collate, [{"x": row} for row in shown])
            schedules: list[Any] = []
            create = made.create_scheduler

            def remember(*arguments_: Any, **named: Any) -> Any:
                schedules[:] = [create(*arguments_, **named)]
                return schedules[0]

            made.create_scheduler = remember  # type: ignore[method-assign]
            kept: list[torch.dtype] = []
            handle = model.weight.register_post_accumulate_grad_hook(lambda weight: kept.append(weight.grad.dtype))
            with toy.recorded(schedules) as found:
                made.train()
            handle.remove()
        model.weight.grad = torch.zeros(1, dtype=kept[-1])
        return found, model

    return _observed(run)


def optax() -> Probe:
    """``MultiSteps`` around an optimizer that shows what reaches it."""
    import jax.numpy as jnp  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    import optax as library  # noqa: PLC0415

    def run(gradients: list[float], steps: int) -> tuple[list[dict[str, float]], Any]:
        inner = library.chain(library.scale_by_schedule(lambda _: 1.0), library.sgd(1.0))
        optimizer = library.MultiSteps(inner, every_k_schedule=steps)
        weight = jnp.zeros((), jnp.bfloat16)
        state = optimizer.init(weight)
        found: list[dict[str, float]] = []
        for gradient in gradients:
            count = int(state.inner_opt_state[0].count)
            update, state = optimizer.update(jnp.asarray(gradient, jnp.float32), state, weight)
            if optimizer.has_updated(state):
                found.append({"gradient": round(float(-update), 6), "schedule": count})
        return found, state

    means = [float(np.mean(row)) for row in toy.UNEQUAL]
    found, state = run(toy.SHOWN * toy.EPOCHS, toy.STEPS)
    return _summary(found, run(means, 2)[0], str(state.acc_grads.dtype))


def keras() -> Probe:
    """``fit`` with ``gradient_accumulation_steps``, and a schedule that writes down what it is asked for."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras as library  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    def run(shown: list[Any], steps: int, epochs: int, dtype: str = "float32") -> tuple[list[dict[str, float]], Any]:
        class Shown(library.utils.PyDataset):
            def __len__(self) -> int:
                return len(shown)

            def __getitem__(self, index: int) -> Any:
                row = np.reshape(np.asarray(shown[index], "float32"), (-1, 1))
                return row, np.zeros_like(row)

        model = library.Sequential(
            [library.Input((1,)), library.layers.Dense(1, use_bias=False, kernel_initializer="zeros", dtype=dtype)]
        )
        optimizer = library.optimizers.SGD(
            library.optimizers.schedules.PolynomialDecay(1.0, 10_000, 1.0), gradient_accumulation_steps=steps
        )
        # The loss w * x has the gradient x; y_true is not looked at.
        model.compile(optimizer, lambda _, predicted: library.ops.mean(predicted), run_eagerly=True)
        found: list[dict[str, float]] = []

        class Watch(library.callbacks.Callback):
            before = 0.0

            def on_train_batch_end(self, *_: Any, **__: Any) -> None:
                after = float(np.asarray(model.get_weights()[0], "float32").squeeze())
                if after != self.before:
                    found.append({"gradient": round(self.before - after, 5), "schedule": int(optimizer._iterations)})  # noqa: SLF001
                self.before = after

        model.fit(Shown(), epochs=epochs, shuffle=False, verbose=0, callbacks=[Watch()])
        return found, optimizer

    found, _ = run(toy.SHOWN, toy.STEPS, toy.EPOCHS)
    optimizer = run(toy.SHOWN, toy.STEPS, 1, "bfloat16")[1]
    buffer = str(optimizer._accumulated_gradients[0].dtype)  # noqa: SLF001 - it has no public name
    # Keras asks the schedule with the count before the update.
    found = [{**update, "schedule": update["schedule"] - 1} for update in found]
    return _summary(found, run(toy.UNEQUAL, 2, 1)[0], buffer)


def deepspeed() -> Probe:
    """The engine's own backward and step, at every micro-batch."""
    with mock.patch.dict(os.environ, {**ONE_RANK, "DS_ACCELERATOR": "cpu"}):
        running.skip_shared_memory()
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
        try:
            return _engine_alone()
        finally:
            dist.destroy_process_group()


def _engine_alone() -> Probe:
    import deepspeed as library  # noqa: PLC0415

    def run(shown: list[Any], steps: int, epochs: int, *, half: bool = False) -> tuple[list[dict[str, float]], Any]:
        model = toy.Weight()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        schedule = toy.schedule_of(optimizer)
        config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": steps}
        # It clips at a norm of 1 unless it is told otherwise.
        config |= {"gradient_clipping": 0.0, "bf16": {"enabled": half}}
        engine, *_ = library.initialize(model=model, optimizer=optimizer, lr_scheduler=schedule, config=config)
        dtypes = []
        with toy.recorded([schedule]) as found:
            for _ in range(epochs):
                for batch in toy.loader(shown):
                    engine.backward(engine(batch.to(model.weight.dtype)))
                    dtypes.append(engine.get_data_types()[1])
                    engine.step()
        return found, dtypes[-1]

    buffer = str(run(toy.SHOWN, toy.STEPS, 1, half=True)[1]).removeprefix("torch.")
    return _summary(run(toy.SHOWN, toy.STEPS, toy.EPOCHS)[0], run(toy.UNEQUAL, 2, 1)[0], buffer)


PROBES: dict[str, tuple[str, Callable[[], Probe]]] = {
    "pytorch": ("torch", pytorch),
    "trainer": ("transformers", trainer),
    "accelerate": ("accelerate", accelerate),
    "lightning": ("lightning", lightning),
    "keras": ("keras", keras),
    "optax": ("optax", optax),
    "deepspeed": ("deepspeed", deepspeed),
}


def run(name: str) -> Probe:
    """One probe, with the version that was run."""
    package, probe = PROBES[name]
    return {"version": importlib.metadata.version(package).partition("+")[0], **probe()}
