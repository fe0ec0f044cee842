"""A driver without hardware: devices, current device, streams and generators behind `torch.cuda`.

`torch.cuda` is Python over functions of `torch._C`; those are put in place (or replaced), so that
its own code runs as it is. Where it bound a C function at import, or looks for real hardware, the
function of `torch.cuda` is replaced.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch

from .patching import Patches
from .placement import CPU, cuda
from .terms import CHECKED, Terms

MEMORY = 24 * 2**30
"""Bytes of memory that each simulated GPU claims to have."""


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
            if os.getpid() != self._process and self.terms.checked:
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

    def generator_type(self, generator: Any) -> str:
        """The device type of a generator; C++ hands on another Python object for the same one."""
        return _GENERATORS.get(generator._cdata, CPU).type


# --- generators ---

_GENERATORS: dict[int, torch.device] = {}  # C++ identity -> device, for simulated GPUs only
_CpuGenerator: Any = torch._C.Generator


class _GeneratorMeta(type(_CpuGenerator)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _CpuGenerator)


def _make_generator_class(driver: Driver) -> type:
    class Generator(_CpuGenerator, metaclass=_GeneratorMeta):  # type: ignore[misc]
        def __new__(cls, device: Any = "cpu") -> Any:
            target = driver.resolve(device)
            self = super().__new__(cls, device=CPU if target.type == "cuda" else target)
            if target.type == "cuda":
                _GENERATORS[self._cdata] = target
            return self

        def __del__(self) -> None:
            _GENERATORS.pop(self._cdata, None)

        @property
        def device(self) -> torch.device:
            return _GENERATORS.get(self._cdata, CPU)

    Generator.__module__, Generator.__qualname__ = "torch._C", "Generator"
    return Generator


# --- streams and events: there is nothing to wait for ---


class Stream:
    """A stream on which everything has already happened."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device = torch.device("cuda", torch.cuda._utils._get_device_index(device, True))
        self.priority = priority
        self.cuda_stream = self.stream_id = 0
        self.device_index = self.device.index
        self.device_type = 1

    def wait_event(self, event: Any) -> None:
        """Wait for nothing."""

    def wait_stream(self, stream: Any) -> None:
        """Wait for nothing."""

    def synchronize(self) -> None:
        """Wait for nothing."""

    def query(self) -> bool:
        """Everything is done."""
        return True

    def is_capturing(self) -> bool:
        """There are no CUDA graphs."""
        return False

    def record_event(self, event: Any = None) -> Event:
        """Record an event, a new one if none is given, and return it."""
        event = event or Event()
        event.record(self)
        return event  # type: ignore[no-any-return]

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.device == self.device

    def __hash__(self) -> int:
        return hash(self.device)


class Event:
    """An event that has occurred, with the time at which it was recorded."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._time = time.perf_counter()

    def record(self, stream: Any = None) -> None:
        """Take the time."""
        self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Wait for nothing."""

    def synchronize(self) -> None:
        """Wait for nothing."""

    def query(self) -> bool:
        """Everything is done."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between this event and a later one."""
        return (end_event._time - self._time) * 1000


class DeviceProperties(SimpleNamespace):
    """What `torch.cuda.get_device_properties` returns."""

    def __init__(self) -> None:
        super().__init__(
            name="Simulated GPU",
            major=8,
            minor=0,
            total_memory=MEMORY,
            multi_processor_count=108,
            max_threads_per_multi_processor=2048,
            regs_per_multiprocessor=65536,
            shared_memory_per_block_optin=166912,
            warp_size=32,
            is_integrated=0,
            is_multi_gpu_board=0,
            gcnArchName="",
        )

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB, "
            f"multi_processor_count={self.multi_processor_count})"
        )


# --- putting it in place ---


def install(driver: Driver, patches: Patches) -> None:
    """Let `torch.cuda` and `torch.accelerator` run on the driver until the patches are undone."""
    nothing = _return(None)
    patches.set(torch, "Generator", _make_generator_class(driver))
    patches.set_all(
        torch._C,
        {
            "_has_cuda": True,
            "_cuda_getDeviceCount": driver.count,
            "_cuda_getDevice": driver.current,
            "_cuda_setDevice": driver.set_current,
            "_cuda_exchangeDevice": driver.exchange,
            "_cuda_maybeExchangeDevice": driver.exchange,
            "_cuda_getArchFlags": _return("sm_80"),
            "_cuda_getAllocatorBackend": _return("native"),
            "_cuda_canDeviceAccessPeer": lambda device, peer: device != peer,
            "_cuda_getMemoryFraction": _return(1.0),
            "_cuda_getCurrentRawStream": _return(0),
            "_cuda_isCurrentStreamCapturing": _return(False),
            "_cuda_memoryStats": lambda device: {},
            "_cuda_memorySnapshot": lambda *args: {"segments": [], "device_traces": []},
            **dict.fromkeys(
                (
                    "_cuda_init",
                    "_cuda_synchronize",
                    "_cuda_emptyCache",
                    "_cuda_ipc_collect",
                    "_cuda_resetPeakMemoryStats",
                    "_cuda_resetAccumulatedMemoryStats",
                    "_cuda_setMemoryFraction",
                    "_cuda_sleep",
                    "_cuda_clearCublasWorkspaces",
                ),
                nothing,
            ),
            **_accelerator_functions(driver),
        },
    )
    patches.set_all(
        torch.cuda,
        {
            "_lazy_init": driver.initialize,
            "_initialized": driver.count() > 0,
            "_cached_device_count": None,
            "_is_in_bad_fork": lambda: driver._initialized and os.getpid() != driver._process,
            "_cudart": _Runtime(driver),
            "_get_device_properties": lambda index: DeviceProperties(),
            "_exchange_device": driver.exchange,
            "_maybe_exchange_device": driver.exchange,
            "is_available": lambda: driver.count() > 0,
            "device_count": driver.count,
            "current_stream": Stream,
            "default_stream": Stream,
            "set_stream": lambda stream: (
                driver.set_current(stream.device_index) if stream else None
            ),
            "current_blas_handle": _return(0),
            "is_current_stream_capturing": _return(False),
            "Stream": Stream,
            "Event": Event,
            "default_generators": _Lazily(driver.default_generators),
        },
    )
    patches.set_all(torch, {"Stream": Stream, "Event": Event})
    patches.set(torch.backends.cudnn, "is_acceptable", _return(False))
    patches.set(torch.version, "cuda", "12.8")


class _Lazily:
    """A sequence that is made when it is first read: no generator before torch is in place."""

    def __init__(self, make: Any) -> None:
        self._make = make

    def __getitem__(self, index: Any) -> Any:
        return self._make()[index]

    def __len__(self) -> int:
        return len(self._make())


class _Runtime:
    """The few functions of the CUDA runtime that Python code calls."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def cudaMemGetInfo(self, device: int) -> tuple[int, int]:
        self._driver.check_ordinal(device)
        return (MEMORY, MEMORY)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _return(0)


def _accelerator_functions(driver: Driver) -> dict[str, Any]:
    return {
        "_accelerator_getAccelerator": lambda: torch.device("cuda") if driver.count() else None,
        "_accelerator_getDeviceIndex": driver.current,
        "_accelerator_setDeviceIndex": driver.set_current,
        "_accelerator_exchangeDevice": driver.exchange,
        "_accelerator_maybeExchangeDevice": driver.exchange,
        "_accelerator_getStream": Stream,
        "_accelerator_setStream": _return(None),
        "_accelerator_synchronizeDevice": _return(None),
        "_accelerator_isAllocatorInitialized": _return(False),
        "_accelerator_emptyCache": _return(None),
        "_accelerator_getMemoryInfo": _return((MEMORY, MEMORY)),
    }


def _return(value: Any) -> Any:
    return lambda *args, **kwargs: value
