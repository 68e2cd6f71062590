"""The experiments against PyTorch: what they compute in plain Python is what autograd and the optimizers do."""

import copy
import importlib.util
import math
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from torch import nn

from gradaccum import api
from gradaccum.experiments import contrastive, gradient_precision, loss_scaling

SNIPPETS = Path(__file__).parents[2] / "docs" / "snippets"
EXACT = 1e-9


def snippet(name):
    specification = importlib.util.spec_from_file_location(name, SNIPPETS / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def outputs(name, **inputs):
    answer = api.answer({"calculator": "experiment", "inputs": {"name": name, **inputs}})
    assert answer["ok"], answer
    return answer["outputs"]


def numbers(values):
    return torch.tensor([float(value) for value in values], dtype=torch.float64)


def close(found, expected):
    assert torch.allclose(
        torch.as_tensor(found, dtype=torch.float64), torch.as_tensor(expected, dtype=torch.float64), rtol=EXACT, atol=1e-12
    )


# Dividing the loss.


class Line(nn.Module):
    """y = w x with w at 0, the model of the experiment."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros((), dtype=torch.float64))

    def forward(self, x):
        return self.weight * x


def line_window(b=2, a=4):
    x = torch.arange(1, a * b + 1, dtype=torch.float64).split(b)
    return [(part, 2 * part) for part in x]


def run_line(way, rate=0.02):
    model = Line()
    optimizer = torch.optim.SGD(model.parameters(), rate)
    window = line_window()
    divisor = {"right": 4, "never": 1, "twice": 16, "zeroed": 4, "stepped": 1}[way]
    for x, y in window:
        if way in ("zeroed", "stepped"):
            optimizer.zero_grad()
        (nn.functional.mse_loss(model(x), y) / divisor).backward()
        if way == "stepped":
            optimizer.step()
    if way != "stepped":
        optimizer.step()
    return model.weight.item()


@pytest.mark.parametrize("way", ["right", "never", "twice", "zeroed", "stepped"])
def test_loss_scaling(way):
    close(run_line(way), float(loss_scaling.first_update(2, 4, Fraction(1, 50), way)))


def test_divide_once_is_one_large_batch():
    model, whole = Line(), Line()
    window = line_window()
    snippet("divide_once").train_window(model, nn.functional.mse_loss, torch.optim.SGD(model.parameters(), 0.02), window)
    x, y = (torch.cat(parts) for parts in zip(*window, strict=True))
    nn.functional.mse_loss(whole(x), y).backward()
    close(model.weight.item(), -0.02 * whole.weight.grad.item())


@pytest.mark.parametrize("optimizer, factor", [(torch.optim.SGD, 8.0), (torch.optim.Adam, 1.0), (torch.optim.AdamW, 1.0)])
def test_a_missing_division_is_invisible_with_adam(optimizer, factor):
    """The step grows by a with SGD, and not at all with Adam: only the logs and the clipping show it."""
    steps = []
    for divisor in (8, 1):
        model = Line()
        stepper = optimizer(model.parameters(), lr=0.001)
        for x, y in line_window(1, 8):
            (nn.functional.mse_loss(model(x), y) / divisor).backward()
        stepper.step()
        steps.append(model.weight.item())
    assert steps[1] / steps[0] == pytest.approx(factor, rel=1e-6)


# Averages over targets and ranks: the loss of each token is (w - c)^2 / 2, so that its gradient at w = 0 is -c.


def accumulated(tokens, gradients, reduce):
    w = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    for count, gradient in zip(tokens, gradients, strict=True):
        each = torch.stack([((w + numbers(gradient)) ** 2).sum() / 2 for _ in range(count)])
        reduce(each).backward()
    return w.grad


def test_token_normalisation():
    tokens, gradients = [2, 8], [[4, 0], [0, 1]]
    found = outputs("token_normalisation")
    close(accumulated(tokens, gradients, lambda each: each.sum() / 10), numbers(found["right_gradient"]))
    close(accumulated(tokens, gradients, lambda each: each.mean() / 2), numbers(found["wrong_gradient"]))


def test_rank_averaging():
    tokens, gradients = [52, 84], [[1, 0], [0, 1]]
    found = outputs("rank_averaging")
    ranks = [accumulated([n], [g], lambda each: each.sum() * 2 / 136) for n, g in zip(tokens, gradients, strict=True)]
    close(sum(ranks) / 2, numbers(found["right_gradient"]))
    close(
        sum(accumulated([n], [g], torch.mean) for n, g in zip(tokens, gradients, strict=True)) / 2,
        numbers(found["wrong_local_means"]),
    )
    forgotten = [accumulated([n], [g], lambda each: each.sum() / 136) for n, g in zip(tokens, gradients, strict=True)]
    close(sum(forgotten) / 2, numbers(found["wrong_without_replicas"]))


def test_count_over_ranks(monkeypatch):
    module = snippet("count_over_ranks")
    monkeypatch.setattr(module.dist, "all_reduce", lambda count: count.add_(84))
    monkeypatch.setattr(module.dist, "get_world_size", lambda: 2)
    assert module.window_loss_factor(52) == 2 / 136


# Batch normalisation.


def norm(momentum):
    return nn.BatchNorm1d(1, momentum=momentum).double()


@pytest.mark.parametrize("part, prefix, momentum", [(8, "right", 0.1), (2, "wrong", 0.1), (2, "corrected", 1 - 0.9**0.25)])
def test_running_statistics(part, prefix, momentum):
    layer, found = norm(momentum), outputs("batch_norm")
    for x in torch.arange(8.0, dtype=torch.float64).split(part):
        layer(x[:, None])
    close(layer.running_mean, [float(found[f"{prefix}_running_mean"])])
    close(layer.running_var, [float(found[f"{prefix}_running_variance"])])


@pytest.mark.parametrize("part, output", [(8, "right_scale_gradient"), (2, "wrong_scale_gradient")])
def test_scale_gradient(part, output):
    layer = norm(0.1)
    for x in torch.arange(8.0, dtype=torch.float64)[:, None].split(part):
        (((layer(x) - x) ** 2).mean() / 2 / (8 // part)).backward()
    close(layer.weight.grad, [float(outputs("batch_norm")[output])])


class Frozen(nn.Module):
    def __init__(self, kind):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(6, 8), nn.Linear(8, 1)
        self.norm = {"batch": nn.BatchNorm1d(8), "layer": nn.LayerNorm(8), "group": nn.GroupNorm(2, 8)}[kind]

    def forward(self, x):
        return self.last(torch.tanh(self.norm(self.first(x))))


@pytest.mark.parametrize(
    "kind, frozen, gap", [("batch", False, True), ("batch", True, False), ("layer", False, False), ("group", False, False)]
)
def test_only_norms_that_mix_samples_break_the_equivalence(kind, frozen, gap):
    x = torch.randn(8, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    grads = []
    for part in (8, 2):
        model = Frozen(kind).double().train()
        if frozen:
            snippet("freeze_batch_norm").freeze_batch_norm(model)
        for piece in x.split(part):
            ((model(piece) ** 2).mean() / (8 // part)).backward()
        grads.append(model.first.weight.grad)
    error = ((grads[1] - grads[0]).norm() / grads[0].norm()).item()
    assert error > 0.1 if gap else error < EXACT


def test_measured_statistics_are_plain_averages():
    model = nn.Sequential(norm(0.1)).eval()
    snippet("freeze_batch_norm").measure_statistics(model, torch.arange(8.0, dtype=torch.float64)[:, None].split(4))
    close(model[0].running_mean, [3.5])
    close(model[0].running_var, [5 / 3])
    assert model[0].momentum == 0.1


# Windows, clipping, precision, the loss scale.


def test_windows_are_as_long_as_what_is_left():
    module = snippet("windows")
    assert [len(window) for window in module.windows(range(10), 4)] == [4, 4, 2]
    assert module.updates_per_epoch(10, 4) == 3
    assert list(module.windows([], 4)) == []


def test_clipping():
    rows = torch.tensor([[2.0, 0.0], [0.0, 2.0]], dtype=torch.float64)
    found = outputs("clipping")

    def clip(gradient):
        w = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        w.grad = gradient.clone()
        nn.utils.clip_grad_norm_([w], 1.0)
        return w.grad

    # PyTorch adds 1e-6 to the length it divides by.
    assert torch.allclose(clip(rows.mean(0)), numbers(found["right_gradient"]), rtol=1e-6)
    assert torch.allclose(clip(clip(rows[0]) + rows[1]), numbers(found["wrong_buffer_clipped"]), rtol=1e-6)
    assert torch.allclose(torch.stack([clip(row) for row in rows]).mean(0), numbers(found["wrong_each_clipped"]), rtol=1e-6)


def test_clip_once_returns_the_length_of_the_mean_gradient():
    model = Line()
    norm = snippet("clip_once").train_window(
        model, nn.functional.mse_loss, torch.optim.SGD(model.parameters(), 1.0), line_window(), 1.0
    )
    close(norm, 102.0)
    assert model.weight.item() == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("dtype, form", [(torch.bfloat16, "bf16"), (torch.float16, "fp16")])
@pytest.mark.parametrize("steps", [256, 512, 1024, 4096])
def test_gradient_precision(dtype, form, steps):
    w = torch.zeros((), dtype=dtype, requires_grad=True)
    for _ in range(steps):
        w.backward()  # adds the gradient 1 to w.grad
    assert w.grad.item() == gradient_precision.running([1.0] * steps, form)[-1]


def test_rounding_is_pytorch_s():
    values = [math.ldexp(gradient_precision.noise(i), i % 60 - 30) for i in range(3000)]
    for form, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        # Through fp32 first, as a double does not fit bf16 directly: both roundings are the experiment's own.
        single = torch.tensor(values, dtype=torch.float32)
        assert [gradient_precision.rounded(v, form) for v in single.double().tolist()] == single.to(dtype).double().tolist()


def test_an_fp32_buffer_keeps_every_gradient():
    w = nn.Parameter(torch.zeros((), dtype=torch.bfloat16))
    buffer = snippet("fp32_buffer").Fp32Buffer([w])
    for _ in range(4096):
        (w / 4096).backward()
        buffer.collect()
    buffer.release()
    assert w.grad.item() == 1.0
    assert w.grad.dtype == torch.bfloat16


def test_a_scale_that_changes_inside_the_window():
    w = torch.zeros((), dtype=torch.float64, requires_grad=True)
    scaler = torch.amp.GradScaler("cpu", growth_interval=1)
    optimizer = torch.optim.SGD([w], 1.0)
    scaler.scale(w * 1.0).backward()
    other = torch.zeros((), dtype=torch.float64, requires_grad=True)
    scaler.scale(other * 1.0).backward()
    side = torch.optim.SGD([other], 0.0)
    scaler.step(side)
    scaler.update()  # in the middle of the window: the scale doubles
    scaler.scale(w * 1.0).backward()
    scaler.unscale_(optimizer)
    close(w.grad, float(outputs("loss_scaler")["wrong_sum"]))


def test_scale_once_steps_and_says_so_and_skips_the_window_on_one_overflow():
    model = Line()
    scaler = torch.amp.GradScaler("cpu")
    arguments = (model, nn.functional.mse_loss, torch.optim.SGD(model.parameters(), 0.02), scaler)
    module = snippet("scale_once")
    module.MAX_NORM = 1e9
    assert module.train_window(*arguments, line_window())
    close(model.weight.item(), 2.04)
    window = line_window()
    window[1] = (window[1][0] * float("inf"), window[1][1])
    assert not module.train_window(*arguments, window)
    close(model.weight.item(), 2.04)
    assert scaler.get_scale() == float(outputs("loss_scaler")["scale_after_overflow"])


# Schedules, contrast, losses that do not add up.


def test_schedule_in_updates():
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(()))], 1.0)
    schedule = snippet("schedule_in_updates").linear_schedule(optimizer, 398, 4, 1, 0)
    found = []
    for _ in range(50):
        optimizer.step()
        schedule.step()
        found.append(schedule.get_last_lr()[0])
    close(found[24], float(outputs("schedule_units")["right_rate"]))
    # Stepped for every micro-batch it would be at its end by then.
    for _ in range(50):
        optimizer.step()
        schedule.step()
    close(schedule.get_last_lr()[0], float(outputs("schedule_units")["wrong_rate_micro_steps"]))


def contrast(queries, keys, temperature=0.1):
    matrix = torch.eye(2, dtype=torch.float64, requires_grad=True)
    loss = nn.functional.cross_entropy(queries @ matrix @ keys.T / temperature, torch.arange(len(keys)))
    loss.backward()
    return loss.item(), matrix.grad.flatten()


def test_contrastive():
    queries, keys = (
        torch.tensor([[float(x), float(y)] for x, y in side], dtype=torch.float64) for side in contrastive.points(8)
    )
    loss, gradient = contrast(queries, keys)
    whole, slope = contrastive.whole_batch(8, Fraction(1, 10))
    close(loss, float(whole))
    close(gradient, numbers(slope))
    parts = [contrast(q, k) for q, k in zip(queries.split(2), keys.split(2), strict=True)]
    wrong, wrong_slope = contrastive.accumulated(2, 4, Fraction(1, 10), cached=False)
    close(sum(part[0] for part in parts) / 4, float(wrong))
    close(sum(part[1] for part in parts) / 4, numbers(wrong_slope))


def test_one_pair_has_neither_loss_nor_gradient():
    loss, gradient = contrast(torch.ones(1, 2, dtype=torch.float64), torch.ones(1, 2, dtype=torch.float64))
    assert loss == 0
    assert not gradient.any()


def pair_loss(embeddings):
    queries, keys = nn.functional.normalize(embeddings, dim=1).chunk(2, dim=1)
    return nn.functional.cross_entropy(queries @ keys.T / 0.1, torch.arange(len(keys)))


def test_cached_contrast_is_the_whole_batch():
    torch.manual_seed(5)
    model = nn.Linear(6, 8).double()
    inputs = torch.randn(12, 6, dtype=torch.float64)
    whole = copy.deepcopy(model)
    pair_loss(whole(inputs)).backward()
    snippet("cached_contrast").contrastive_window(model, pair_loss, inputs.split(5))
    close(model.weight.grad, whole.weight.grad)
    plain = copy.deepcopy(model)
    plain.zero_grad()
    for part in inputs.split(4):
        (pair_loss(plain(part)) / 3).backward()
    assert (plain.weight.grad - whole.weight.grad).norm() > 0.1 * whole.weight.grad.norm()


def test_window_dice_is_the_whole_batch():
    torch.manual_seed(6)
    model = nn.Linear(5, 1).double()
    x, mask = torch.randn(9, 5, dtype=torch.float64), torch.randint(2, (9, 1)).double()
    module, whole = snippet("window_dice"), copy.deepcopy(model)
    overlap, predicted, target = module.dice_sums(whole(x), mask)
    loss = 1 - 2 * overlap / (predicted + target)
    loss.backward()
    found = module.dice_window(model, list(zip(x.split(4), mask.split(4), strict=True)))
    close(found, loss.item())
    close(model.weight.grad, whole.weight.grad)


def test_scores_that_do_not_add_up():
    found = outputs("additive_losses")
    errors = torch.tensor([1.0, 3.0], dtype=torch.float64)
    close((errors**2).mean().sqrt(), float(found["right_rmse"]))
    close(errors.abs().mean(), float(found["wrong_rmse"]))


# What happens once an update.


@pytest.mark.parametrize("output, updates", [("right_shrinkage", 1000), ("wrong_shrinkage", 8000)])
def test_weight_decay(output, updates):
    w = nn.Parameter(torch.ones((), dtype=torch.float64))
    optimizer = torch.optim.AdamW([w], lr=1e-3, weight_decay=0.1)
    w.grad = torch.zeros_like(w)
    for _ in range(updates):
        optimizer.step()
    close(w.item(), float(outputs("weight_decay")[output]))


def test_moving_average():
    model = Line()
    module = snippet("once_per_update")
    average = module.averaged(model, 0.5)
    optimizer = torch.optim.SGD(model.parameters(), 1.0)
    average.update_parameters(model)
    for _ in range(3):
        model.weight.grad = torch.tensor(-1.0, dtype=torch.float64)
        module.after_last_micro_batch(model, average, optimizer)
    # The weight runs through 0, 1, 2 and 3, and the average goes half of the way each time.
    close(average.module.weight.item(), 2.125)
    assert model.weight.grad is None


class Counting(nn.Module):
    """Counts reductions as DistributedDataParallel makes them: one per backward pass outside no_sync."""

    def __init__(self):
        super().__init__()
        self.inner, self.quiet, self.reductions = Line(), False, 0

    def no_sync(self):
        outer = self

        class Context:
            def __enter__(self):
                outer.quiet = True

            def __exit__(self, *_):
                outer.quiet = False

        return Context()

    def forward(self, x):
        y = self.inner(x)
        if not self.quiet:
            y.register_hook(lambda _: setattr(self, "reductions", self.reductions + 1))
        return y


def test_reduce_once():
    model = Counting()
    snippet("reduce_once").backward_window(model, nn.functional.mse_loss, line_window())
    assert model.reductions == 1
    close(model.inner.weight.grad, -102.0)


def test_small_batch_adam():
    optimizer = snippet("small_batch_adam").adamw_for([nn.Parameter(torch.zeros(()))], 1e-3, 0.95, 512, 1)
    assert optimizer.param_groups[0]["betas"][1] == pytest.approx(float(outputs("small_batch")["right_beta2"]), rel=EXACT)
