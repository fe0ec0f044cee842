"""Generators of simulated GPUs: they draw on the cpu, and say that they belong to a GPU."""

from __future__ import annotations

from typing import Any

import torch

from .driver import Driver
from .placement import CPU

#: C++ identity of each generator of a simulated GPU, with the GPU.
_GPUS: dict[int, torch.device] = {}
_CpuGenerator: Any = torch._C.Generator


class _GeneratorMeta(type(_CpuGenerator)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _CpuGenerator)


def generator_device(generator: Any) -> torch.device:
    """Where a generator draws; C++ hands on another Python object for the same one."""
    return _GPUS.get(generator._cdata, CPU)


def generator_class(driver: Driver) -> type:
    """Return the `torch.Generator` of a simulated machine."""

    class Generator(_CpuGenerator, metaclass=_GeneratorMeta):  # type: ignore[misc]
        def __new__(cls, device: Any = "cpu") -> Any:
            target = driver.resolve(device)
            self = super().__new__(cls, device=CPU if target.type == "cuda" else target)
            if target.type == "cuda":
                _GPUS[self._cdata] = target
            return self

        def __del__(self) -> None:
            _GPUS.pop(self._cdata, None)

        @property
        def device(self) -> torch.device:
            return generator_device(self)

    Generator.__module__, Generator.__qualname__ = "torch._C", "Generator"
    return Generator
