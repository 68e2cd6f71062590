"""What the learn pages claim about PyTorch, on a model small enough to know by heart."""

import gc
import importlib.util
import itertools
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

SNIPPETS = Path(__file__).parents[2] / "docs" / "snippets"
WIDTH = 32


def snippet(name):
    spec = importlib.util.spec_from_file_location(f"snippet_{name}", SNIPPETS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


train_window = snippet("loop").train_window
saved = snippet("saved_bytes")
summed_loss = nn.CrossEntropyLoss(reduction="sum")


def build_model(dtype=torch.float32):
    torch.manual_seed(0)
    layers = [layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.GELU())]
    return nn.Sequential(*layers, nn.Linear(WIDTH, 8)).to(dtype)


def micro_batch(size, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(size, WIDTH, generator=generator, dtype=dtype)
    return inputs, torch.randint(0, 8, (size,), generator=generator)


def gradients(model):
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


class LiveBytes(TorchDispatchMode):
    """Bytes of the storages made inside the context and still alive, and their peak; `known` was there before."""

    def __init__(self, *known):
        super().__init__()
        # A view of a weight has the weight's storage: it is not new.
        self.seen = {tensor.untyped_storage()._cdata: None for tensor in known}
        self.live = self.peak = 0

    def add(self, tensor):
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self.seen:
            return
        size = storage.nbytes()
        self.live += size
        self.peak = max(self.peak, self.live)
        self.seen[key] = weakref.finalize(storage, self.drop, key, size)

    def drop(self, key, size):
        del self.seen[key]
        self.live -= size

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (list, tuple)) else (result,):
            if isinstance(tensor, torch.Tensor):
                self.add(tensor)
        return result


def wait_and_sum(model, loss_function, optimizer, micro_batches):
    """The wrong loop: every graph is kept until one backward pass at the end."""
    optimizer.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        total = total + loss_function(model(inputs), targets)
    total.backward()
    optimizer.step()


def peak(window, accumulation_steps, *, size=256, updates=2, keep_zeros=False):
    """Return the peak of the last of `updates` updates, in bytes made since the model was there."""
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    if keep_zeros:
        clear = optimizer.zero_grad
        optimizer.zero_grad = lambda: clear(set_to_none=False)
    batches = [micro_batch(size, seed) for seed in range(accumulation_steps)]
    with LiveBytes(*model.parameters(), *itertools.chain(*batches)) as memory:
        for _ in range(updates):
            gc.collect()
            memory.peak = memory.live
            window(model, summed_loss, optimizer, batches)
    return memory.peak


def bytes_of(tensors):
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


GRADIENT_BUFFER = bytes_of(build_model().parameters())
RUNNING_LOSS = 4  # the window's loss so far, one fp32 number


# learn/concept


def test_a_window_has_the_gradient_of_the_whole_batch():
    batches = [micro_batch(size, seed, torch.float64) for seed, size in enumerate((2, 5, 1))]
    model = build_model(torch.float64)
    train_window(model, summed_loss, torch.optim.SGD(model.parameters(), lr=0.0), batches)
    in_parts = gradients(model)
    model.zero_grad()
    whole = [torch.cat(column) for column in zip(*batches, strict=True)]
    nn.functional.cross_entropy(model(whole[0]), whole[1]).backward()
    torch.testing.assert_close(in_parts, gradients(model), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("sizes", "is_enough"), [((3, 3, 3), True), ((2, 5, 1), False)])
def test_dividing_the_means_by_a_is_enough_only_for_equal_target_counts(sizes, is_enough):
    batches = [micro_batch(size, seed, torch.float64) for seed, size in enumerate(sizes)]
    model = build_model(torch.float64)
    train_window(model, summed_loss, torch.optim.SGD(model.parameters(), lr=0.0), batches)
    right = gradients(model)
    model.zero_grad()
    for inputs, targets in batches:
        (nn.functional.cross_entropy(model(inputs), targets) / len(sizes)).backward()
    assert torch.allclose(gradients(model), right, rtol=1e-9) is is_enough


def test_clearing_inside_the_loop_leaves_only_the_last_micro_batch():
    batches = [micro_batch(4, seed) for seed in range(3)]
    model = build_model()
    for inputs, targets in batches:
        model.zero_grad()
        summed_loss(model(inputs), targets).backward()
    cleared = gradients(model)
    model.zero_grad()
    summed_loss(model(batches[-1][0]), batches[-1][1]).backward()
    torch.testing.assert_close(cleared, gradients(model), rtol=0, atol=0)


def test_the_loop_counts_only_targets_that_are_not_ignored():
    inputs, targets = micro_batch(6)
    targets[:4] = -100
    model = build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    loss = train_window(model, summed_loss, optimizer, iter([(inputs[:3], targets[:3]), (inputs[3:], targets[3:])]))
    torch.testing.assert_close(loss, nn.functional.cross_entropy(model(inputs), targets).detach())


def test_a_window_without_a_target_is_refused_before_the_weights_turn_nan():
    inputs, targets = micro_batch(3)
    model = build_model()
    with pytest.raises(ValueError, match="no target"):
        train_window(model, summed_loss, torch.optim.SGD(model.parameters()), [(inputs, targets * 0 - 100)])
    assert all(parameter.isfinite().all() for parameter in model.parameters())


# learn/memory


def test_gradients_appear_in_the_first_backward_pass_and_stay_in_place():
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters())
    places = []
    model.register_forward_hook(
        lambda *_: places.append([None if p.grad is None else p.grad.data_ptr() for p in model.parameters()])
    )
    for _ in range(2):
        train_window(model, summed_loss, optimizer, [micro_batch(4, seed) for seed in range(4)])
    first, second, *later = places[:4]
    assert set(first) == {None}
    assert None not in second
    assert later == [second, second]
    assert set(places[4]) == {None}


def test_optimizer_state_appears_at_the_first_step():
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters())
    inputs, targets = micro_batch(4)
    for _ in range(2):
        summed_loss(model(inputs), targets).backward()
        assert not optimizer.state
        optimizer.zero_grad()
    train_window(model, summed_loss, optimizer, [(inputs, targets)])
    assert len(optimizer.state) == len(list(model.parameters()))


def test_one_to_two_costs_one_gradient_buffer_and_two_to_many_nothing():
    one, two, many = (peak(train_window, a) for a in (1, 2, 50))
    assert two - one == GRADIENT_BUFFER + RUNNING_LOSS
    assert many == two


def test_a_buffer_that_is_zeroed_instead_of_freed_is_paid_for_at_one_already():
    one, two, eight = (peak(train_window, a, keep_zeros=True) for a in (1, 2, 8))
    assert one + RUNNING_LOSS == two == eight == peak(train_window, 2)


def test_with_few_activations_the_optimizer_step_is_the_peak_and_hides_the_buffer():
    assert peak(train_window, 1, size=1) == peak(train_window, 2, size=1)


def test_the_first_update_does_not_show_the_peak():
    assert peak(train_window, 2, updates=1) < peak(train_window, 2, updates=2)
    assert peak(train_window, 2, updates=2) == peak(train_window, 2, updates=4)


def test_losses_summed_before_one_backward_pass_keep_every_graph():
    steps = (2, 4, 6)
    two, four, six = (peak(wait_and_sum, a) for a in steps)
    assert six - four == four - two
    inputs, targets = micro_batch(256)
    activations = saved.saved_bytes(build_model(), summed_loss, inputs, targets)
    batch_itself = bytes_of([inputs, targets])  # the loader's, kept alive by the test, not by the graph
    assert four - two >= 2 * (activations - batch_itself)


def test_retain_graph_keeps_the_activations_after_the_backward_pass():
    left = {}
    for retain in (False, True):
        model = build_model()
        inputs, targets = micro_batch(256)
        with LiveBytes(*model.parameters(), inputs, targets) as memory:
            loss = summed_loss(model(inputs), targets)
            loss.backward(retain_graph=retain)
            left[retain] = memory.live
        del loss
    kept = saved.saved_bytes(model, summed_loss, inputs, targets) - bytes_of([inputs, targets])
    assert left[True] - left[False] >= 0.9 * kept


def test_a_backward_pass_leaves_gradients_and_nothing_else():
    model = build_model()
    inputs, targets = micro_batch(256)
    with LiveBytes(*model.parameters(), inputs, targets) as memory:
        loss = summed_loss(model(inputs), targets)
        loss.backward()
        del loss
        gc.collect()
        assert memory.live == GRADIENT_BUFFER


def test_saved_bytes_are_a_constant_plus_a_share_for_each_sample():
    model = build_model()
    kept = [saved.saved_bytes(model, summed_loss, *micro_batch(size)) for size in (2, 3, 9)]
    share = kept[1] - kept[0]
    assert kept[2] - kept[0] == 7 * share
    assert saved.activation_per_sample(model, summed_loss, micro_batch(2), micro_batch(9)) == share


def test_saved_bytes_leaves_nothing_behind():
    model = build_model()
    inputs, targets = micro_batch(64)
    with LiveBytes(*model.parameters(), inputs, targets) as memory:
        saved.saved_bytes(model, summed_loss, inputs, targets)
        gc.collect()
        assert memory.live == 0


def test_autocast_copies_of_weights_are_the_constant_part():
    model = build_model()

    def under_autocast(size):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return saved.saved_bytes(model, summed_loss, *micro_batch(size))

    share = under_autocast(3) - under_autocast(2)
    # The first layer's weight is not kept: nobody asks for the gradient of the data.
    copies = sum(2 * p.numel() for p in list(model.parameters())[1:] if p.dim() == 2)
    assert under_autocast(2) - 2 * share >= copies


def test_a_stored_loss_keeps_its_graph_but_not_what_backward_freed():
    model = build_model()
    inputs, targets = micro_batch(256)
    with LiveBytes(*model.parameters(), inputs, targets) as memory:
        loss = summed_loss(model(inputs), targets)
        before = memory.live
        loss.backward()
        assert memory.live - GRADIENT_BUFFER < 0.1 * before


def test_peak_memory_resets_between_the_first_and_the_second_update(monkeypatch):
    calls = []
    fake = SimpleNamespace(
        synchronize=lambda: calls.append("wait"),
        reset_peak_memory_stats=lambda: calls.append("reset"),
        mem_get_info=lambda: (3, 10),
        max_memory_allocated=lambda: 4,
        max_memory_reserved=lambda: 5,
    )
    module = snippet("peak_memory")
    monkeypatch.setattr(module.torch, "cuda", fake)
    found = module.peak_memory(lambda: calls.append("update"))
    assert calls == ["update", "wait", "reset", "update", "wait"]
    assert found == {"allocated": 4, "reserved": 5, "driver": 7}
