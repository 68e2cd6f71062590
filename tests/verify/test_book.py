"""What the questions, trade-offs and practice pages claim about PyTorch, derived again on the CPU."""

import copy
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

SNIPPETS = Path(__file__).parents[2] / "docs" / "snippets"
STEPS = 4


def snippet(name):
    spec = importlib.util.spec_from_file_location(f"snippet_{name}", SNIPPETS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gradient_error = snippet("gradient_check").gradient_error


# learn/practice, the gradient check


def make_model(*layers):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), *layers, nn.Tanh(), nn.Linear(16, 5)).double()


def make_window(sizes):
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(n, 6, generator=generator).double(), torch.randint(5, (n,), generator=generator)) for n in sizes]


def run_window(model, window, loss_of):
    for inputs, targets in window:
        loss_of(model(inputs), targets).backward()


def error_of(loss_of, *, sizes=(3, 3, 3, 3), layers=()):
    """What the check says of a loop, with that loss for each micro-batch."""
    model, window = make_model(*layers), make_window(sizes)
    whole = [torch.cat(column) for column in zip(*window, strict=True)]
    return gradient_error(
        model,
        lambda: run_window(model, window, loss_of),
        lambda: nn.functional.cross_entropy(model(whole[0]), whole[1]).backward(),
    )


def summed(total):
    return lambda logits, targets: nn.functional.cross_entropy(logits, targets, reduction="sum") / total


def mean_over(divisor):
    return lambda logits, targets: nn.functional.cross_entropy(logits, targets) / divisor


RIGHT = {
    "summed over the window's targets": (summed(12), {}),
    "of unequal lengths": (summed(12), {"sizes": (1, 2, 4, 5)}),
    "equal lengths divided by a": (mean_over(STEPS), {}),
    "layer normalization": (summed(12), {"layers": (nn.LayerNorm(16),)}),
}
WRONG = {
    "unequal lengths divided by a": (mean_over(STEPS), {"sizes": (1, 2, 4, 5)}),
    "divided twice": (mean_over(STEPS**2), {}),
    "not divided": (mean_over(1), {}),
    "batch normalization": (summed(12), {"layers": (nn.BatchNorm1d(16),)}),
    "a loss that compares samples": (lambda logits, _: logits.var(0).sum() / STEPS, {}),
}


@pytest.mark.parametrize("loss_of, options", RIGHT.values(), ids=RIGHT)
def test_the_gradient_check_lets_a_right_loop_pass(loss_of, options):
    assert error_of(loss_of, **options) < 1e-12


@pytest.mark.parametrize("loss_of, options", WRONG.values(), ids=WRONG)
def test_the_gradient_check_finds_a_wrong_loop(loss_of, options):
    assert error_of(loss_of, **options) > 0.1


def test_dividing_twice_leaves_three_quarters_of_the_gradient_missing():
    assert error_of(mean_over(STEPS**2)) == pytest.approx(1 - 1 / STEPS)


# learn/faq


def clipped(pieces, *, each):
    """Gradients added to one buffer with a limit of 1: clipped after each pass, or once."""
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.zeros(2)
    for piece in pieces:
        parameter.grad += torch.tensor(piece)
        if each:
            nn.utils.clip_grad_norm_([parameter], 1.0)
    nn.utils.clip_grad_norm_([parameter], 1.0)
    return parameter.grad.tolist()


@pytest.mark.parametrize("each, right", [(False, [0.5**0.5, 0.5**0.5]), (True, [0.2**0.5, 0.8**0.5])])
def test_clipping_after_each_pass_shrinks_the_early_ones_again(each, right):
    assert clipped([(2.0, 0.0), (0.0, 2.0)], each=each) == pytest.approx(right, abs=1e-5)


def test_a_bf16_buffer_stops_at_256():
    parameter = nn.Parameter(torch.ones(1, dtype=torch.bfloat16))
    for _ in range(4096):
        parameter.sum().backward()
    assert parameter.grad.item() == 256
    assert parameter.grad.item() / 4096 == 0.0625


def step_length(optimizer_class, scale, **options):
    parameter = nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = optimizer_class([parameter], lr=0.01, **options)
    parameter.grad = torch.tensor([0.00146 * scale], dtype=torch.float64)
    optimizer.step()
    return abs(parameter.item())


@pytest.mark.parametrize(
    "optimizer_class, ratio", [(torch.optim.SGD, 8.0), (torch.optim.Adam, 1.000006), (torch.optim.AdamW, 1.000006)]
)
def test_adam_hides_a_sum_that_was_not_divided(optimizer_class, ratio):
    assert step_length(optimizer_class, 8) / step_length(optimizer_class, 1) == pytest.approx(ratio, abs=5e-7)


def test_a_scaler_updated_between_two_passes_mixes_two_scales():
    parameter = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=1)
    scaler.scale(parameter.sum()).backward()
    scaler.unscale_(optimizer)  # as a loop does that takes each pass for a whole update
    parameter.grad *= 4.0  # back to the scale that the buffer had
    scaler.update()
    assert scaler.get_scale() == 8.0
    scaler.scale(parameter.sum()).backward()
    scaler.unscale_(optimizer)
    assert parameter.grad.item() == 1.5


def test_a_second_unscale_is_refused():
    parameter = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(parameter.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)


def test_one_overflow_skips_the_whole_window():
    parameter = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
    for factor in (1.0, float("inf"), 1.0):
        scaler.scale((parameter * factor).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert parameter.item() == 0.0
    assert scaler.get_scale() == 32768.0


def test_a_mean_over_no_target_is_no_number_and_a_sum_is_zero():
    logits, masked = torch.randn(3, 5), torch.full((3,), -100)
    assert nn.functional.cross_entropy(logits, masked).isnan()
    assert nn.functional.cross_entropy(logits, masked, reduction="sum").item() == 0.0


@pytest.mark.parametrize("pairs, chance", [(1, 0.0), (8, 2.0794415416798357)])
def test_one_pair_has_nothing_to_contrast_with(pairs, chance):
    queries = torch.ones(pairs, 4, requires_grad=True)  # all alike: the level of chance
    loss = nn.functional.cross_entropy(queries @ queries.detach().T, torch.arange(pairs))
    loss.backward()
    assert loss.item() == pytest.approx(chance, abs=1e-6)
    assert queries.grad.abs().max() == 0 or pairs > 1


def test_balance_of_experts_is_not_a_mean_over_micro_batches():
    def balance(shares):  # the number of experts times the sum of squared shares
        return len(shares) * (shares * shares).sum().item()

    first, second = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    assert (balance(first) + balance(second)) / 2 == 2.0
    assert balance((first + second) / 2) == 1.0


# learn/trade-offs, no_sync on two processes


def test_no_sync_saves_reductions_only_around_the_forward_pass(tmp_path):
    script = str(Path(__file__).with_name("two_processes.py"))
    ranks = [
        subprocess.Popen([sys.executable, script, str(rank), str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    counted = [json.loads(rank.communicate(timeout=120)[0]) for rank in ranks]
    assert counted == [{"none": 4, "backward": 4, "both": 1}] * 2


def test_frozen_batch_normalization_is_exact():
    layer = nn.BatchNorm1d(6).double().eval()
    model = make_model()
    frozen = nn.Sequential(layer, copy.deepcopy(model))
    window = make_window((2, 2))
    whole = torch.cat([inputs for inputs, _ in window])
    assert torch.allclose(torch.cat([frozen(inputs) for inputs, _ in window]), frozen(whole), rtol=1e-12)


# learn/practice, searches for the largest micro-batch


@pytest.mark.filterwarnings("default")
def test_the_trainer_finds_a_micro_batch_and_leaves_the_steps(tmp_path):
    from transformers import Trainer, TrainingArguments  # noqa: PLC0415 - slow to import

    most, tried = 3, []

    class Small(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(()))

        def forward(self, x, **_):
            tried.append(len(x))
            if len(x) > most:
                raise RuntimeError("CUDA out of memory.")
            return {"loss": (self.weight * x).mean()}

    quiet = {"report_to": "none", "save_strategy": "no", "logging_strategy": "no", "disable_tqdm": True}
    arguments = TrainingArguments(
        output_dir=str(tmp_path),
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        auto_find_batch_size=True,
        num_train_epochs=1,
        use_cpu=True,
        **quiet,
    )
    trainer = Trainer(Small(), arguments, train_dataset=[{"x": torch.ones(())} for _ in range(48)])
    trainer.train()
    assert sorted(set(tried), reverse=True) == [8, 7, 6, 5, 4, 3]
    assert trainer.args.gradient_accumulation_steps == 2
    assert trainer.state.global_step == 8
