"""The fixes that the pitfalls show for each framework, run: the gradient of a window is that of its samples at once."""

import copy
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

ROOT = Path(__file__).parents[2]
SNIPPETS = ROOT / "docs" / "snippets"
IMPORTED = (ROOT / "src", ROOT / "scripts")
# What frameworks warn their own users of is not this project's fault, and differs with every version.
pytestmark = pytest.mark.filterwarnings("default")
VOCABULARY = 7
# Targets of unequal number, some left out; the last window is not full.
COUNTS = [(2, 8, 3, 5), (6, 1)]
FREE = 1e9  # a norm that clips nothing


def snippet(name):
    spec = importlib.util.spec_from_file_location(f"snippet_{name}", SNIPPETS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(VOCABULARY, 5), nn.Linear(5, VOCABULARY)).double()


def window(counts, seed):
    """Micro-batches of one row of ten tokens, of which so many are targets."""
    generator = torch.Generator().manual_seed(seed)
    batches = []
    for count in counts:
        inputs = torch.randint(VOCABULARY, (1, 10), generator=generator)
        labels = torch.randint(VOCABULARY, (1, 10), generator=generator)
        labels[:, count:] = -100
        batches.append((inputs, labels))
    return batches


WINDOWS = [window(counts, seed) for seed, counts in enumerate(COUNTS)]


def summed_loss(logits, labels):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")


def gradient(net):
    return torch.cat([parameter.grad.flatten() for parameter in net.parameters()])


def whole_gradient(batches):
    """Of all targets of a window at once."""
    net = model()
    inputs, labels = (torch.cat(column) for column in zip(*batches, strict=True))
    (summed_loss(net(inputs), labels) / (labels != -100).sum()).backward()
    return gradient(net)


def agree(found, expected):
    return float((found - expected).norm() / expected.norm()) < 1e-9


class Still(torch.optim.SGD):
    """Leaves the weights, and notes the gradient it was asked to step on."""

    def __init__(self, parameters):
        super().__init__(parameters, lr=0.0)
        self.seen = []

    def step(self, closure=None):
        if closure is not None:
            closure()
        self.seen.append(torch.cat([p.grad.flatten() for group in self.param_groups for p in group["params"]]).clone())


@pytest.mark.parametrize("lengthened", [1e-3, 1e3])
def test_accelerate(lengthened):
    """Of a gradient shorter than the limit nothing is clipped; a longer one is clipped once, to the limit."""
    accelerate = pytest.importorskip("accelerate")
    accelerator = accelerate.Accelerator(cpu=True)
    net = model()
    optimizer = Still(net.parameters())
    net, prepared = accelerator.prepare(net, optimizer)
    for batches in WINDOWS:
        snippet("accelerate_window").train_window(
            accelerator, net, prepared, lambda *given: lengthened * summed_loss(*given), batches
        )
    assert len(optimizer.seen) == len(WINDOWS)
    for found, batches in zip(optimizer.seen, WINDOWS, strict=True):
        expected = lengthened * whole_gradient(batches)
        length = float(expected.norm())
        assert float((found - expected / max(length, 1.0)).norm() / found.norm()) < 1e-5


@pytest.mark.parametrize("part", [None, 0.5])
def test_lightning(part, tmp_path, monkeypatch):
    lightning = pytest.importorskip("lightning")
    monkeypatch.chdir(tmp_path)
    limit = FREE if part is None else float(whole_gradient(WINDOWS[0]).norm()) * part
    net = model()
    optimizer = Still(net.parameters())
    module = snippet("lightning_window").Windowed(net, summed_loss, limit)
    module.configure_optimizers = lambda: optimizer
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    lightning.Trainer(accelerator="cpu", max_epochs=1, **quiet).fit(
        module, torch.utils.data.DataLoader(WINDOWS, batch_size=None)
    )
    assert len(optimizer.seen) == len(WINDOWS)
    if part is None:
        assert all(agree(found, whole_gradient(batches)) for found, batches in zip(optimizer.seen, WINDOWS, strict=True))
    else:
        assert float(optimizer.seen[0].norm()) == pytest.approx(limit, rel=1e-5)


def test_trainer(tmp_path):
    """A model of the library's own, since the Trainer asks a model's class whether its loss shifts the labels."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    net = transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=VOCABULARY, **sizes)).double()
    whole = copy.deepcopy(net)
    optimizer = Still(net.parameters())
    settings = transformers.TrainingArguments(
        output_dir=str(tmp_path), per_device_train_batch_size=1, gradient_accumulation_steps=len(COUNTS[0]), num_train_epochs=1,
        max_grad_norm=0.0, report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=True, remove_unused_columns=False,
        train_sampling_strategy="sequential",
    )  # fmt: skip
    transformers.Trainer(
        net,
        settings,
        train_dataset=[{"input_ids": inputs[0], "labels": labels[0]} for batches in WINDOWS for inputs, labels in batches],
        optimizers=(optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)),
        compute_loss_func=snippet("trainer_loss").summed_over_window,
    ).train()
    assert len(optimizer.seen) == len(WINDOWS)
    for found, batches in zip(optimizer.seen, WINDOWS, strict=True):
        inputs, labels = (torch.cat(column) for column in zip(*batches, strict=True))
        whole.zero_grad()
        loss = summed_loss(whole(inputs).logits[:, :-1], labels[:, 1:])
        (loss / (labels[:, 1:] != -100).sum()).backward()
        assert float((found - gradient(whole)).norm() / found.norm()) < 1e-6  # it computes in fp32 here and there


def test_optax_clips_and_decays_once_a_window():
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    module = snippet("optax_window")
    rates = []
    optimizer = module.windowed(lambda count: rates.append(count) or 0.1, 2)
    weights = jax.numpy.array([3.0, 3.0])
    state = optimizer.init(weights)
    seen = []
    for micro in ([2.0, 0.0], [0.0, 2.0]):
        updates, state = optimizer.update(jax.numpy.array(micro), state, weights)
        seen.append(updates)
    assert seen[0].tolist() == [0.0, 0.0]
    assert (seen[1] != 0).all()
    assert int(state.gradient_step) == 1
    # What clipping leaves of the window's mean: on its own in MultiSteps, and before it, where each micro-batch is clipped.
    inside = optax.MultiSteps(optax.clip_by_global_norm(1.0), 2)
    state = inside.init(weights)
    for micro in ([2.0, 0.0], [0.0, 2.0]):
        updates, state = inside.update(jax.numpy.array(micro), state, weights)
    assert updates.tolist() == pytest.approx([0.5**0.5] * 2, rel=1e-6)


def test_optax_weighs_every_target_alike():
    pytest.importorskip("optax")
    losses, counts = (8.0, 8.0), (2, 8)
    weighed = [float(snippet("optax_window").weight(loss, sum(counts), 2)) for loss in losses]
    assert sum(weighed) / 2 == pytest.approx(sum(losses) / sum(counts))
    assert float(snippet("optax_window").weight(0.0, 0, 2)) == 0.0


@pytest.fixture
def keras(monkeypatch):
    if "KERAS_BACKEND" not in os.environ:
        monkeypatch.setenv("KERAS_BACKEND", "torch")
    return pytest.importorskip("keras")


def test_keras_counts_updates(keras):
    module = snippet("keras_counts")
    updates, steps = 3, 4
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")])
    optimizer = module.optimizer_for(0.1, updates, steps)
    net.compile(optimizer, loss="mse")
    average = module.AveragePerUpdate(0.5)
    rows = torch.ones(updates * steps, 1).numpy()
    started = net.get_weights()[0].item()
    kept = []
    record = keras.callbacks.LambdaCallback(on_train_batch_end=lambda *_, **__: kept.append(net.get_weights()[0].item()))
    net.fit(rows, 0 * rows, batch_size=1, shuffle=False, verbose=0, callbacks=[record, average])
    moved = sum(one != other for one, other in zip([started, *kept], kept, strict=False))
    assert (moved, average.seen) == (updates, updates)
    assert float(optimizer.learning_rate) == pytest.approx(0.0, abs=1e-7)
    after = kept[steps - 1 :: steps]
    expected = after[0]
    for weight in after[1:]:
        expected = 0.5 * expected + 0.5 * weight
    assert average.average[0].item() == pytest.approx(expected, rel=1e-5)


@pytest.fixture(scope="module")
def deepspeed():
    """What the engine did, in a process of its own: it keeps the group of ranks that it met first."""
    pytest.importorskip("deepspeed")
    command = [sys.executable, Path(__file__).with_name("on_deepspeed.py")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, IMPORTED))}
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=240, env=environment)
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.parametrize("limit", ["none", "half"])
def test_deepspeed(deepspeed, limit):
    """Every window has its gradient, the short one too; the engine clips once, and its scheduler counts updates."""
    found = deepspeed[limit]
    assert found["updates"] == found["schedule"] == len(found["errors"]) == len(WINDOWS)
    assert max(found["errors"]) < 1e-5


def test_deepspeed_left_alone_divides_by_the_steps_and_waits_for_a_full_window(deepspeed):
    found = deepspeed["alone"]
    assert found["at_boundary"] == [False, False, False, True, False, False]
    assert found["updates"] == found["schedule"] == 1
    assert found["error"] < 1e-5


def test_deepspeed_stops_where_the_batch_is_not_the_product(deepspeed):
    assert "256 != 4 * 8 * 1" in deepspeed["refused"]
