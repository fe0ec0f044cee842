"""`torch.cuda` and `torch.accelerator` on a machine without hardware.

`torch.cuda` is Python over functions of `torch._C`; those are put in place (or replaced), so that
its own code runs as it is. Where it bound a C function at import, or looks for real hardware, the
function of `torch.cuda` is replaced.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from .driver import Driver
from .generators import generator_class
from .patches import Patches
from .streams import Event, Stream, graph_class

MEMORY = 24 * 2**30
"""Bytes of memory that each simulated GPU claims to have."""


def install(driver: Driver, patches: Patches) -> None:
    """Let `torch.cuda` and `torch.accelerator` run on the driver until the patches are undone."""
    nothing = _return(None)
    patches.set(torch, "Generator", generator_class(driver))
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
            "_cuda_isCurrentStreamCapturing": lambda: driver.captures,
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
                    "_host_emptyCache",
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
            "_is_in_bad_fork": driver.in_bad_fork,
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
            "is_current_stream_capturing": lambda: driver.captures,
            "CUDAGraph": graph_class(driver),
            "Stream": Stream,
            "Event": Event,
            "default_generators": _Lazily(driver.default_generators),
        },
    )
    patches.set(torch.cuda.graph, "default_capture_stream", None)  # one of ours must not outlive us
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
        "_get_accelerator": lambda *_: torch.device("cuda" if driver.count() else "cpu"),
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
