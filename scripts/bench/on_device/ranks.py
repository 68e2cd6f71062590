"""Claims about several processes: gloo on CPUs, NCCL on GPUs, one rank for each device, on one node or many."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.nn.parallel import DistributedDataParallel

from .bench import Bench
from .models import Batch, summed_loss, target_count, tiny, tokens
from .window import accumulate, gradient, relative, split

Found = dict[str, Any]
MICRO_BATCH, STEPS = 2, 4
Context = Callable[[], AbstractContextManager[Any]]


class Replica:
    """The small model under DDP, with a count of its reductions."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        places = [bench.torch.index] if bench.torch.type == "cuda" else None
        self.model = DistributedDataParallel(tiny(bench.torch, torch.float64), device_ids=places)
        self.parameters = list(self.model.parameters())
        self.reductions = 0
        self.model.register_comm_hook(None, self._reduce)
        # The buckets are laid out anew after the first backward pass; count in whole sets of them.
        self._run(self._batch(), nullcontext)
        self.reductions = 0
        self._run(self._batch(), nullcontext)
        self.buckets, self.reductions = self.reductions, 0

    def _reduce(self, _: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        self.reductions += 1
        return allreduce_hook(None, bucket)

    def _batch(self) -> list[Batch]:
        return split(tokens(self.bench.torch, MICRO_BATCH), MICRO_BATCH)

    def _run(self, parts: list[Batch], around: Context, around_backward: Context = nullcontext) -> None:
        """One window, every micro-batch but the last inside `around`, or its backward pass alone inside `around_backward`."""
        for place, part in enumerate(parts):
            last = place == len(parts) - 1
            with nullcontext() if last else around():
                loss = summed_loss(self.model, part) / target_count(part) / len(parts)
                with nullcontext() if last else around_backward():
                    loss.backward()

    def reductions_of(self, around: Context, around_backward: Context = nullcontext) -> float:
        """Reductions of a window of `STEPS` micro-batches."""
        self.model.zero_grad()
        self.reductions = 0
        batch = tokens(self.bench.torch, MICRO_BATCH * STEPS, seed=20 + self.bench.rank)
        self._run(split(batch, MICRO_BATCH), around, around_backward)
        return self.reductions / self.buckets


def _of_all(bench: Bench, *, even: bool) -> Batch:
    """The effective batch; the samples of a rank lie together in it."""
    return tokens(bench.torch, MICRO_BATCH * STEPS * bench.ranks, even=even, seed=30)


def _of_rank(bench: Bench, whole: Batch) -> list[Batch]:
    mine = split(whole, MICRO_BATCH * STEPS)[bench.rank]
    return split(mine, MICRO_BATCH)


def _right(bench: Bench, whole: Batch) -> torch.Tensor:
    """The gradient that one process finds for the effective batch at once."""
    model = tiny(bench.torch, torch.float64)
    parameters = list(model.parameters())
    accumulate(lambda one: summed_loss(model, one), [whole], target_count(whole), parameters)
    return gradient(parameters)


def _sum(bench: Bench, value: float) -> float:
    total = torch.tensor(float(value), dtype=torch.float64, device=bench.torch)
    dist.all_reduce(total)
    return float(total)


def effective_batch(bench: Bench, found: Found) -> None:
    """Every rank accumulates its own micro-batches; the gradient is that of all samples, and the same on every rank."""
    whole = _of_all(bench, even=True)
    parts = _of_rank(bench, whole)
    replica = Replica(bench)
    accumulate(lambda one: summed_loss(replica.model, one) / target_count(one), parts, STEPS, replica.parameters, bench.broken)
    mine = gradient(replica.parameters)
    found |= {"micro_batch": MICRO_BATCH, "accumulation_steps": STEPS, "replicas": bench.ranks}
    found["samples"] = int(_sum(bench, sum(len(ids) for ids, _ in parts)))
    found["expected_samples"] = MICRO_BATCH * STEPS * bench.ranks
    found["relative_error"] = relative(mine, _right(bench, whole))
    highest, lowest = mine.clone(), mine.clone()
    dist.all_reduce(highest, dist.ReduceOp.MAX)
    dist.all_reduce(lowest, dist.ReduceOp.MIN)
    found["largest_difference_between_ranks"] = float((highest - lowest).abs().max())


def one_all_reduce(bench: Bench, found: Found) -> None:
    """Reductions of a window inside no_sync, forward pass and all, and without it."""
    replica = Replica(bench)
    found |= {"accumulation_steps": STEPS, "buckets": replica.buckets}
    no_sync = replica.model.no_sync
    misplaced = (nullcontext, no_sync)
    found["with_no_sync"] = replica.reductions_of(*(misplaced if bench.broken == "no_sync" else (no_sync,)))
    found["without_no_sync"] = replica.reductions_of(nullcontext)


def misplaced_no_sync(bench: Bench, found: Found) -> None:
    """Reductions of a window whose backward passes alone are inside no_sync: DDP decides in the forward pass."""
    replica = Replica(bench)
    found["accumulation_steps"] = STEPS
    found["around_backward"] = replica.reductions_of(nullcontext, replica.model.no_sync)


def token_counts_ranks(bench: Bench, found: Found) -> None:
    """Ranks with different numbers of targets: divided by all targets and times g, by a rank's own, and without the g."""
    whole = _of_all(bench, even=False)
    parts = _of_rank(bench, whole)
    right = _right(bench, whole)
    replica = Replica(bench)
    mine = sum(target_count(part) for part in parts)
    every = int(_sum(bench, mine))
    found |= {"targets": every, "replicas": bench.ranks, "expected_without_factor": (1 - 1 / bench.ranks) * 0.99}
    divisors = {
        "counted_error": every / bench.ranks,
        "local_means_error": mine,
        "without_factor_error": every,
    }
    for name, divisor in divisors.items():
        accumulate(lambda one: summed_loss(replica.model, one), parts, divisor, replica.parameters, bench.broken)
        found[name] = relative(gradient(replica.parameters), right)


def fsdp2_deferred(bench: Bench, found: Found) -> None:
    """Gradient bytes of a rank between micro-batches, reduced each time and deferred, and the gradient at the end."""
    # FSDP2 warns that the logits are a view, which matters to those who write into them; the loss only reads.
    warnings.filterwarnings("ignore", "FSDP2-wrapped module", UserWarning)
    whole = _of_all(bench, even=True)
    parts = _of_rank(bench, whole)
    model = tiny(bench.torch, torch.float64)
    found["parameter_bytes"] = sum(parameter.nbytes for parameter in model.parameters())
    found |= {"replicas": bench.ranks, "accumulation_steps": STEPS}
    mesh = init_device_mesh(bench.torch.type, (bench.ranks,))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    for name, deferred in (("sharded_bytes", False), ("deferred_bytes", True)):
        model.zero_grad()
        for place, part in enumerate(parts):
            model.set_requires_gradient_sync(not deferred or place == STEPS - 1)
            (summed_loss(model, part) / target_count(part) / STEPS).backward()
            if place == 0:
                found[name] = _gradient_bytes(model)
    gathered = torch.cat([parameter.grad.full_tensor().flatten() for parameter in model.parameters()])
    found["relative_error"] = relative(gathered, _right(bench, whole))


def _gradient_bytes(model: nn.Module) -> int:
    """Bytes of a rank's gradients, sharded or not. FSDP2 has no public way to the unsharded ones it holds back."""
    held = [parameter.grad.to_local() for parameter in model.parameters() if parameter.grad is not None]
    for module in model.modules():
        group = module._get_fsdp_state()._fsdp_param_group if isinstance(module, FSDPModule) else None  # noqa: SLF001
        for one in group.fsdp_params if group else ():
            held += [one.unsharded_accumulated_grad, getattr(one, "_unsharded_param", torch.empty(0)).grad]
    storages = {tensor.untyped_storage()._cdata: tensor.untyped_storage() for tensor in held if tensor is not None}  # noqa: SLF001
    return sum(storage.nbytes() for storage in storages.values())
