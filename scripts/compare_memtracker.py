"""The dry run beside PyTorch's MemTracker: the same step, the same peak, and how much faster.

Needs the environment of `make verify`; `make bench-dry-run` gives the command. Time is that of the processor, so that a busy
machine does not count, and it is taken after the imports that both need.

MemTracker refuses a second forward pass of a step unless its statistics by module are reset, which is done before each
micro-batch here. Both run on shapes: MemTracker on fake tensors, as its documentation says, with the flash operator named,
because fake CPU tensors would pick the CPU's kernel.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

LLAMA3_8B = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 128256,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "rope_theta": 500000.0,
}
UPDATES = 2


def dry_run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Peak and seconds of the dry run's updates, and of all it does beside them."""
    from gradaccum.torch.session import open_session  # noqa: PLC0415 - each in a process of its own

    session = open_session("cuda", None)
    from gradaccum.torch.configured import from_config  # noqa: PLC0415 - the library comes before torch
    from gradaccum.torch.window import Window, optimizer_for  # noqa: PLC0415 - likewise

    request = {"source": arguments.config, "sequence_length": arguments.sequence_length, "attention": "flash"}
    subject = from_config(session, request)
    started = time.process_time()
    session.live.record()
    window = Window(subject, session, optimizer_for(subject, "AdamW", foreach=True))
    for number in range(1, UPDATES + 1):
        window.update(number, arguments.micro_batch, arguments.accumulation_steps, lambda: None)
    return {"peak": max(span.peak for span in window.spans), "seconds": time.process_time() - started}


def memtracker(arguments: argparse.Namespace) -> dict[str, Any]:
    """Peak and seconds of the same updates under MemTracker."""
    import torch  # noqa: PLC0415 - each in a process of its own
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC0415 - likewise
    from torch.distributed._tools.mem_tracker import MemTracker  # noqa: PLC0415 - likewise

    from gradaccum.torch.configured import from_config  # noqa: PLC0415 - likewise
    from gradaccum.torch.session import Session  # noqa: PLC0415 - likewise

    class Fake(Session):
        """Fake tensors on the CPU."""

        def __init__(self) -> None:
            self.device, self._keep = "cpu", [FakeTensorMode(allow_non_fake_inputs=True)]

    session = Fake()
    request = {"source": arguments.config, "sequence_length": arguments.sequence_length, "attention": "flash"}
    subject = from_config(session, request)
    started = time.process_time()
    optimizer = torch.optim.AdamW(subject.trainable, lr=1e-3, foreach=True)
    tracker = MemTracker()
    tracker.track_external(subject.model, optimizer)
    with tracker:
        for _ in range(UPDATES):
            for _ in range(arguments.accumulation_steps):
                tracker.reset_mod_stats()
                batch = subject.batch(arguments.micro_batch)
                subject.model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    [peak] = [snapshot["Total"] for device, snapshot in tracker.get_tracker_snapshot("peak").items() if device.type == "cpu"]
    return {"peak": peak, "seconds": time.process_time() - started}


SIDES = {"dry_run": dry_run, "memtracker": memtracker}


def measured(side: str, words: list[str]) -> dict[str, Any]:
    """One side in a process of its own."""
    command = [sys.executable, __file__, *words, "--side", side]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Run both sides and print the ratio; end with an error where the promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", help="a config.json; the 8B Llama 3 when none is given")
    parser.add_argument("--micro-batch", type=int, default=1)
    parser.add_argument("--sequence-length", type=int, default=4096)
    parser.add_argument("--accumulation-steps", type=int, default=2)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.config is None:
        path = Path(__file__).parent.parent / "build" / "llama3-8b.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(LLAMA3_8B), encoding="utf-8")
        arguments.config = str(path)
    if arguments.side:
        print(json.dumps(SIDES[arguments.side](arguments)))
        return
    ours, theirs = (measured(side, sys.argv[1:]) for side in SIDES)
    difference = abs(ours["peak"] - theirs["peak"]) / theirs["peak"]
    ratio = theirs["seconds"] / ours["seconds"]
    print(f"peak      dry run {ours['peak']:,} bytes, MemTracker {theirs['peak']:,} bytes: {difference:.4%} apart")
    print(f"processor dry run {ours['seconds']:.1f} s, MemTracker {theirs['seconds']:.1f} s: {ratio:.0f} times faster")
    if difference > 0.001 or ratio < 10:
        raise SystemExit("The dry run promises the same peak within 0.1 % and ten times the speed.")


if __name__ == "__main__":
    main()
