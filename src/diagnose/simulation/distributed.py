"""Process groups of GPUs: gloo, which knows the CPU's memory, stands in for NCCL.

What DistributedDataParallel allocates in C++ to reduce gradients is, as all such memory, where the first
tensor is that it meets.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from .driver import Driver
from .patches import Patches


def install(driver: Driver, patches: Patches) -> None:
    """Let groups that ask for NCCL be made of gloo, until the patches are undone."""
    if not torch.distributed.is_available():
        return
    module: Any = torch.distributed.distributed_c10d
    for name in ("init_process_group", "new_group"):
        replaced = _with_gloo(getattr(module, name))
        patches.set(module, name, replaced)
        patches.set(torch.distributed, name, replaced)
    for owner in (module, torch.distributed):
        patches.set(owner, "is_nccl_available", lambda: True)
    reducer: Any = vars(torch.distributed)["Reducer"]
    patches.set(torch.distributed, "Reducer", _allocating(driver, reducer))
    for name in ("_rebuild_buckets", "prepare_for_backward"):
        patches.set(reducer, name, _allocating(driver, getattr(reducer, name)))


def _with_gloo(original: Any) -> Any:
    @functools.wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        given = [_gloo(value) for value in args]
        named = {key: _gloo(value) if key == "backend" else value for key, value in kwargs.items()}
        named.pop("device_id", None)  # a promise to NCCL
        return original(*given, **named)

    return make


def _gloo(backend: Any) -> Any:
    return "gloo" if isinstance(backend, str) and "nccl" in backend.lower() else backend


def _allocating(driver: Driver, original: Any) -> Any:
    """A call of C++ code that allocates memory for tensors on a GPU."""

    @functools.wraps(original, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        with driver.allocating():
            return original(*args, **kwargs)

    return call
