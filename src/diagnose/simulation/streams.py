"""Streams and events of simulated GPUs, where there is nothing to wait for."""

from __future__ import annotations

import time
from typing import Any

import torch


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
