"""Copies between several GPUs: what `nn.DataParallel` calls, and threads that know the GPUs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch

from .checks import DeviceChecks
from .driver import Driver
from .patches import Patches
from .placement import CPU, UNPLACED, cuda, label_of, place
from .streams import Stream


def install(
    driver: Driver, checks: DeviceChecks, new_dispatch: Callable[[], Any], patches: Patches
) -> None:
    """Put the communication functions in place, and let new threads see the GPUs.

    Args:
        driver: the simulated machine.
        checks: whether devices are compared.
        new_dispatch: makes the dispatch mode of a new thread; modes belong to one thread.
        patches: where the replacements are noted.
    """

    def broadcast(tensor: Any, devices: Sequence[int]) -> list[Any]:
        return [tensor.to(driver.resolve(device)) for device in devices]

    def broadcast_coalesced(
        tensors: Sequence[Any], devices: Sequence[int], buffer_size: int = 0
    ) -> list[list[Any]]:
        for tensor in tensors:
            if checks.enforced and tensor.device != driver.resolve(devices[0]):
                raise RuntimeError(f"All tensors must be on devices[0]: {devices[0]}")
        # Replicas are copies: a write to one must not reach the original.
        copies = [[t.to(driver.resolve(device), copy=True) for t in tensors] for device in devices]
        return [list(tensors), *copies[1:]]

    def scatter(
        tensor: Any,
        devices: Sequence[int],
        chunk_sizes: Any = None,
        dim: int = 0,
        streams: Any = (),
    ) -> list[Any]:
        parts = (
            tensor.split(list(chunk_sizes), dim) if chunk_sizes else tensor.chunk(len(devices), dim)
        )
        return [
            part.to(driver.resolve(device)) for part, device in zip(parts, devices, strict=False)
        ]

    def gather(tensors: Sequence[Any], dim: int = 0, destination: Any = None) -> Any:
        for index, tensor in enumerate(tensors):
            if checks.enforced and tensor.device.type != "cuda":
                raise RuntimeError(
                    "Expected all input tensors to be CUDA tensors, "
                    f"but tensor at index {index} has device {tensor.device}"
                )
        target = driver.current() if destination is None else destination
        device = CPU if target == -1 else cuda(target)
        return torch.cat([tensor.to(device) for tensor in tensors], dim)

    patches.set_all(
        torch._C,
        {
            "_broadcast": broadcast,
            "_broadcast_coalesced": broadcast_coalesced,
            "_scatter": scatter,
            "_gather": gather,
        },
    )
    patches.set(torch.nn.parallel._functions.Broadcast, "backward", staticmethod(_broadcast_back()))
    patches.set(torch.cuda.nccl, "is_available", lambda tensors: False)
    patches.set(torch.nn.parallel._functions, "_get_stream", Stream)
    patches.set(threading.Thread, "_bootstrap_inner", _bootstrap_inner(new_dispatch))
    if driver.terms.one_stream:
        in_turn = SimpleNamespace(Thread=_InTurn, Lock=threading.Lock)
        patches.set(sys.modules["torch.nn.parallel.parallel_apply"], "threading", in_turn)


class _InTurn(threading.Thread):
    """A thread that has ended when it has been started: replicas that draw from one stream would draw
    other numbers in each run, if they ran at once."""

    def start(self) -> None:
        super().start()
        self.join()


def _broadcast_back() -> Callable[..., Any]:
    """The backward of a broadcast, told where the gradients of unused replicas are: C++ made them."""
    backward: Any = torch.nn.parallel._functions.Broadcast.backward

    def broadcast_back(ctx: Any, *gradients: Any) -> Any:
        for position, gradient in enumerate(gradients):
            if label_of(gradient) is UNPLACED:
                place(gradient, cuda(ctx.target_gpus[position // ctx.num_inputs]))
        return backward(ctx, *gradients)

    return broadcast_back


def _bootstrap_inner(new_dispatch: Callable[[], Any]) -> Callable[[Any], None]:
    start = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def _bootstrap_inner(self: Any) -> None:
        with new_dispatch():
            start(self)

    return _bootstrap_inner
