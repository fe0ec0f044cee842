"""One simulation from start to end."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch

from . import (
    distributed,
    functions,
    gradients,
    kernels,
    parallel,
    runtime,
    scripts,
    tensors,
    tracebacks,
    unchecked,
)
from .checks import DeviceChecks
from .dispatch import SimulatedDispatch
from .driver import Driver
from .patches import Patches
from .terms import Terms

_MOST = 64


class Session:
    """The context in which torch sees simulated GPUs; see `simulated_gpus`."""

    def __init__(self, count: int, wording: str, terms: Terms) -> None:
        if not 0 <= count <= _MOST:
            raise ValueError(f"between 0 and {_MOST} GPUs can be simulated, not {count}")
        if wording not in ("new", "old"):
            raise ValueError(f"wording is 'new' or 'old', not {wording!r}")
        self._count = count
        self._checks = DeviceChecks(wording, enforced=terms.checked)
        self._terms = terms
        self._leave = ExitStack()

    def __enter__(self) -> None:
        if Patches.active is not None:
            raise RuntimeError("simulated GPUs are active already; they do not nest")
        if torch.cuda.is_available():
            # C++ takes the simulated initialization for a real one, once and for all: where there
            # are real GPUs, the real one must have come first.
            torch.cuda._lazy_init()  # type: ignore[no-untyped-call]
        patches = Patches.active = Patches()
        with ExitStack() as undo:
            undo.callback(setattr, Patches, "active", None)
            undo.callback(patches.undo)
            driver = Driver(self._count, self._checks.wording, self._terms)
            runtime.install(driver, patches)
            tensors.install(driver, self._checks, patches)
            functions.install(driver, self._checks, patches)
            gradients.install(self._checks, patches)
            parallel.install(
                driver, self._checks, lambda: SimulatedDispatch(driver, self._checks), patches
            )
            scripts.install(self._checks, patches)
            unchecked.install(driver, self._checks, patches)
            distributed.install(driver, patches)
            kernels.install(driver, self._checks, patches)
            tracebacks.install(patches)
            undo.enter_context(SimulatedDispatch(driver, self._checks))
            self._leave = undo.pop_all()

    def __exit__(self, *exception: Any) -> None:
        self._leave.close()
