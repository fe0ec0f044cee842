"""What the recorder costs: training steps with it and without, in turns; memory of what it remembers.

    python benchmarks/recorder.py [--device cuda] [--rounds 9] [--steps 20] [--long 2000]

Prints the time of a step without it, and the ratio of medians with it: in full, and of one step in 50. Then
the microseconds and bytes that a live tensor costs, and the memory of a process over --long steps.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import psutil
import torch
from torch import nn

from diagnose.tracing import trace

Step = Callable[[], None]


def _trained(net: nn.Module, inputs: Callable[[], tuple[torch.Tensor, ...]]) -> Step:
    optimizer = torch.optim.AdamW(net.parameters())

    def step() -> None:
        loss = net(*inputs()).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def transformer(device: str) -> Step:
    """A small transformer: four layers, 256 wide, 16 texts of 64 tokens."""
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    net = nn.Sequential(
        nn.Embedding(1000, 256), nn.TransformerEncoder(layer, 4), nn.Linear(256, 1000)
    )
    return _trained(net.to(device), lambda: (torch.randint(0, 1000, (16, 64), device=device),))


def cnn(device: str) -> Step:
    """A small convolutional network: eight blocks, 16 images of 64 by 64."""
    blocks = [
        part
        for at in range(8)
        for part in (
            nn.Conv2d(3 if at == 0 else 32, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
        )
    ]
    net = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    return _trained(net.to(device), lambda: (torch.rand(16, 3, 64, 64, device=device),))


class _Graph(nn.Module):
    """Message passing by index_add, as torch_geometric does it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(64, 64) for _ in range(4))

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            passed = layer(x)[edges[0]]
            x = torch.zeros_like(x).index_add(0, edges[1], passed).relu() + x
        return x


def gnn(device: str) -> Step:
    """A small graph network: four layers, 2,000 nodes and 20,000 edges."""

    def inputs() -> tuple[torch.Tensor, ...]:
        return torch.rand(2000, 64, device=device), torch.randint(
            0, 2000, (2, 20000), device=device
        )

    return _trained(_Graph().to(device), inputs)


def seconds(step: Step, steps: int, around: Callable[[], AbstractContextManager[object]]) -> float:
    """Of one step, the recorder's start left out."""
    with around():
        for _ in range(4):  # in the sampled mode the first ones are recorded
            step()
        _wait()
        start = time.perf_counter()
        for _ in range(steps):
            step()
        _wait()
        return (time.perf_counter() - start) / steps


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def costs_of_tensors() -> tuple[float, float]:
    """Microseconds and bytes that a live tensor costs."""

    def made(count: int) -> float:
        start = time.perf_counter()
        kept = [torch.empty(0) for _ in range(count)]
        spent = time.perf_counter() - start
        del kept
        return spent / count * 1e6

    without = statistics.median(made(20000) for _ in range(5))
    with trace():
        within = statistics.median(made(20000) for _ in range(5))
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        kept = [torch.empty(0) for _ in range(5000)]
        traced = tracemalloc.get_traced_memory()[0] - before
        del kept
    tracemalloc.stop()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [torch.empty(0) for _ in range(5000)]
    plain = tracemalloc.get_traced_memory()[0] - before
    del kept
    tracemalloc.stop()
    return within - without, (traced - plain) / 5000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--long", type=int, default=2000)
    args = parser.parse_args()
    torch.manual_seed(0)
    ways: dict[str, Callable[[], AbstractContextManager[object]]] = {
        "without": nullcontext,
        "in full": trace,
        "one step in 50": lambda: trace(every=50),
    }
    print(f"| torch {torch.__version__}, {args.device} | ms a step | in full | one step in 50 |")
    print("|---|---|---|---|")
    for model in (transformer, cnn, gnn):
        step = model(args.device)
        seconds(step, args.steps, nullcontext)
        found: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(args.rounds):
            for name, around in ways.items():
                found[name].append(seconds(step, args.steps, around))
        middle = {name: statistics.median(times) for name, times in found.items()}
        ratios = [middle[name] / middle["without"] for name in list(ways)[1:]]
        print(
            f"| {model.__name__} | {middle['without'] * 1e3:.1f} | {ratios[0]:.2f} | {ratios[1]:.2f} |"
        )
    micros, size = costs_of_tensors()
    print(f"a live tensor: {micros:.1f} us, {size:.0f} bytes")
    step = _trained(
        nn.Linear(8, 8).to(args.device), lambda: (torch.rand(4, 8, device=args.device),)
    )
    process = psutil.Process()
    with trace() as recorder:
        for turn in range(5):
            for _ in range(args.long // 5):
                step()
            gc.collect()
            memory = process.memory_info().rss / 1e6
            print(
                f"after {(turn + 1) * args.long // 5} steps: {memory:.0f} MB, {len(recorder.tensors)} known"
            )


if __name__ == "__main__":
    main()
