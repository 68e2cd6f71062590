"""The claims under every page, held against PyTorch: one gradient, memory that follows b and not a, one gradient buffer."""

import importlib.util
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import nn

LOOP = Path(__file__).parents[2] / "docs" / "snippets" / "loop.py"
FEATURES, CLASSES = 24, 5
STEPS = (1, 4, 16)

sum_loss = nn.CrossEntropyLoss(reduction="sum")


@pytest.fixture(scope="module")
def train_window():
    specification = importlib.util.spec_from_file_location("loop", LOOP)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.train_window


def make_model(dtype=torch.float64):
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Linear(FEATURES, 40), nn.ReLU(), nn.LayerNorm(40), nn.Linear(40, 40), nn.GELU(), nn.Linear(40, CLASSES)
    ).to(dtype)


def make_window(steps, micro_batch, dtype=torch.float64):
    generator = torch.Generator().manual_seed(7)
    return [
        (
            torch.randn(micro_batch, FEATURES, generator=generator, dtype=dtype),
            torch.randint(CLASSES, (micro_batch,), generator=generator),
        )
        for _ in range(steps)
    ]


def frozen(model):
    """An optimizer whose step changes nothing, so that two windows start from the same weights."""
    return torch.optim.SGD(model.parameters(), lr=0.0)


class SavedBytes:
    """Bytes that autograd holds for backward passes to come: each storage once, parameters left out."""

    class Kept:
        """Stands in the graph for one saved tensor; its end is the end of autograd's hold on the storage."""

        def __init__(self, ledger, tensor):
            self.tensor = tensor.detach()  # the output itself would keep its own graph alive
            self.ledger = ledger
            ledger.take(self.tensor.untyped_storage())

        def __del__(self):
            self.ledger.release(self.tensor.untyped_storage())

    def __init__(self, model):
        self.parameters = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
        self.holders = Counter()
        self.live = self.peak = 0

    def counting(self):
        return torch.autograd.graph.saved_tensors_hooks(lambda tensor: self.Kept(self, tensor), lambda kept: kept.tensor)

    def take(self, storage):
        if storage.data_ptr() in self.parameters:
            return
        if not self.holders[storage.data_ptr()]:
            self.live += storage.nbytes()
            self.peak = max(self.peak, self.live)
        self.holders[storage.data_ptr()] += 1

    def release(self, storage):
        if storage.data_ptr() in self.parameters:
            return
        self.holders[storage.data_ptr()] -= 1
        if not self.holders[storage.data_ptr()]:
            self.live -= storage.nbytes()


def peak_saved(train, steps, micro_batch):
    model = make_model()
    saved = SavedBytes(model)
    with saved.counting():
        train(model, sum_loss, frozen(model), make_window(steps, micro_batch))
    assert saved.live == 0
    return saved.peak


def train_on_summed_losses(model, loss_function, optimizer, micro_batches):
    """The wrong loop: one backward pass for the sum, so that no graph can go before the last forward pass."""
    optimizer.zero_grad()
    losses = [loss_function(model(inputs), targets) for inputs, targets in micro_batches]
    torch.stack(losses).sum().backward()
    optimizer.step()


@pytest.mark.parametrize("steps, micro_batch", [(1, 32), (2, 16), (8, 4), (32, 1)])
def test_the_accumulated_gradient_is_the_whole_batch_s(train_window, steps, micro_batch):
    window = make_window(steps, micro_batch)
    accumulated, at_once = make_model(), make_model()
    train_window(accumulated, sum_loss, frozen(accumulated), window)
    inputs, targets = (torch.cat(column) for column in zip(*window, strict=True))
    nn.functional.cross_entropy(at_once(inputs), targets).backward()
    for mine, whole in zip(accumulated.parameters(), at_once.parameters(), strict=True):
        assert whole.grad.abs().max() > 0
        assert (mine.grad - whole.grad).abs().max() <= 1e-12


@pytest.mark.parametrize("steps", STEPS)
def test_saved_bytes_are_affine_in_the_micro_batch(train_window, steps):
    sizes = (1, 2, 5, 16, 64)
    peaks = [peak_saved(train_window, steps, size) for size in sizes]
    share = peaks[1] - peaks[0]
    assert share > 0
    assert [peak - peaks[0] for peak in peaks] == [share * (size - sizes[0]) for size in sizes]


@pytest.mark.parametrize("micro_batch", [1, 8])
def test_saved_bytes_do_not_know_how_many_accumulation_steps_there_are(train_window, micro_batch):
    assert len({peak_saved(train_window, steps, micro_batch) for steps in STEPS}) == 1


def test_losses_summed_before_one_backward_pass_save_as_much_as_the_whole_batch():
    micro_batch = 8
    one, four, sixteen = (peak_saved(train_on_summed_losses, steps, micro_batch) for steps in STEPS)
    assert one < four < sixteen
    assert (sixteen - one) * (STEPS[1] - STEPS[0]) == (four - one) * (STEPS[2] - STEPS[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("steps", STEPS)
def test_the_gradient_buffer_is_as_large_as_the_parameters(train_window, steps, dtype):
    model = make_model(dtype)
    train_window(model, sum_loss, frozen(model), make_window(steps, 2, dtype))
    gradients = {parameter.grad.untyped_storage().data_ptr(): parameter.grad for parameter in model.parameters()}
    assert sum(g.untyped_storage().nbytes() for g in gradients.values()) == sum(p.nbytes for p in model.parameters())
