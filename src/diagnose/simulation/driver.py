"""The machine without hardware: its GPUs, which is the current one, and their generators."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .placement import cuda
from .terms import CHECKED, Terms


class Driver:
    """The simulated machine's GPUs and what the running code has set on them."""

    def __init__(self, count: int, wording: str = "new", terms: Terms = CHECKED) -> None:
        self._count = count
        self.terms = terms
        # A class of their own since torch 2.8, as the sentences of the device checks.
        self._error = getattr(torch, "AcceleratorError", RuntimeError)
        if wording == "old":
            self._error = RuntimeError
        self._process = os.getpid()
        self._initialized = False
        self._visible_at_start = os.environ.get("CUDA_VISIBLE_DEVICES")
        self._thread = threading.local()
        self._generators: dict[int, Any] = {}

    # --- devices ---

    def count(self) -> int:
        """How many GPUs are visible; fixed by the first use, as in CUDA."""
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if not self._initialized and visible is not None and visible != self._visible_at_start:
            listed = 0
            for entry in visible.split(","):
                if not entry.strip().isdigit() or int(entry) >= self._count:
                    break  # CUDA ignores what follows an entry that does not exist
                listed += 1
            return listed
        return self._count

    def initialize(self) -> None:
        """Start using the GPUs.

        Raises:
            RuntimeError: there are none, or this is a forked child of a process that used them.
        """
        if self._initialized:
            if self.in_bad_fork() and self.terms.checked:
                raise RuntimeError(
                    "Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
                    "multiprocessing, you must use the 'spawn' start method"
                )
            return
        self._count = self.count()
        if self._count == 0:
            raise RuntimeError("No CUDA GPUs are available")
        self._initialized = True
        self._process = os.getpid()  # a fork of a process that has not used them may

    def in_bad_fork(self) -> bool:
        """Whether this is a forked child of a process that used the GPUs."""
        return self._initialized and os.getpid() != self._process

    def current(self) -> int:
        """The current device of this thread."""
        return getattr(self._thread, "current", 0)

    def set_current(self, index: int) -> None:
        """Make a device the current one of this thread; negative numbers change nothing."""
        if index >= 0:
            self.check_ordinal(index)
            self._thread.current = self.ordinal(index)

    def exchange(self, index: int) -> int:
        """Set the current device and return the one before."""
        before = self.current()
        self.set_current(index)
        return before if index >= 0 else -1

    def ordinal(self, index: int) -> int:
        """The number of the device that a number means."""
        return index % self._count if self.terms.wrapped and self._count else index

    def check_ordinal(self, index: int) -> None:
        """Raise what CUDA raises if there is no such device."""
        self.initialize()
        if self.ordinal(index) < self._count:
            return
        raise self._error(
            "CUDA error: invalid device ordinal\n"
            "GPU device may be out of range, do you have enough GPUs?\n"
            "CUDA kernel errors might be asynchronously reported at some other API call, "
            "so the stacktrace below might be incorrect.\n"
            "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
            "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
        )

    def resolve(self, device: Any) -> torch.device:
        """Return the device that a device argument means, with an index if it is a GPU.

        Args:
            device: a `torch.device`, its name, an index, or a tensor's `device`.
        """
        if isinstance(device, int) and not isinstance(device, bool):
            device = torch.device("cuda", device)
        device = torch.device(device)
        if device.type == "meta" and self.terms.drawn:
            return torch.device("cpu")
        if device.type != "cuda":
            return device  # type: ignore[no-any-return]
        index = self.current() if device.index is None else device.index
        self.check_ordinal(index)
        return cuda(self.ordinal(index))

    @contextmanager
    def allocating(self) -> Iterator[None]:
        """While C++ code of this thread allocates memory whose device shows later."""
        before = self.allocates
        self._thread.allocates = True
        try:
            yield
        finally:
            self._thread.allocates = before

    @property
    def allocates(self) -> bool:
        """Whether such code runs in this thread."""
        return getattr(self._thread, "allocates", False)

    @property
    def captures(self) -> bool:
        """Whether a CUDA graph is captured in this thread."""
        return getattr(self._thread, "captures", False)

    def capture(self, captures: bool) -> None:
        """Begin or end to capture a CUDA graph."""
        self._thread.captures = captures

    # --- random numbers ---

    def default_generator(self, device: torch.device) -> Any:
        """The generator that a GPU uses when a call names none."""
        return self.default_generators()[device.index]

    def default_generators(self) -> tuple[Any, ...]:
        """One generator a GPU."""
        for index in range(self._count):
            if index not in self._generators:
                generator = torch.Generator(device=cuda(index))
                generator.manual_seed(torch.initial_seed())
                self._generators[index] = generator
        return tuple(self._generators[index] for index in range(self._count))
