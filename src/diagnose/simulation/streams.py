"""Streams, events and graphs of simulated GPUs, where there is nothing to wait for."""

from __future__ import annotations

import time
from typing import Any

import torch

from .driver import Driver


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
        """Whether a CUDA graph is captured."""
        return torch.cuda.is_current_stream_capturing()

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


def graph_class(driver: Driver) -> type[Any]:
    """`torch.cuda.CUDAGraph`: what is captured runs at once, and is never replayed."""

    class CUDAGraph:
        def __init__(self, keep_graph: bool = False) -> None: ...

        def capture_begin(self, *_: Any, **__: Any) -> None:
            driver.capture(True)

        def capture_end(self) -> None:
            driver.capture(False)

        def replay(self) -> None:
            raise NotImplementedError("simulated GPUs capture CUDA graphs, and do not replay them")

        def reset(self) -> None: ...

        def pool(self) -> tuple[int, int]:
            return (0, 0)

    return CUDAGraph
