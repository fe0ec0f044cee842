"""Where devices are not compared, what compares them in Python lets everything pass too, and what has no
memory gets some: the program then computes what its author meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .checks import DeviceChecks
from .driver import Driver
from .patches import Patches
from .placement import place
from .terms import COMPARED


def install(driver: Driver, checks: DeviceChecks, patches: Patches) -> None:
    """Replace the functions, if devices are not compared.

    Memory that nobody has written to holds one value here and another where devices are compared: a
    program that reads it is told by what it computes.
    """
    if driver.terms.one_stream:
        empty = 0.0 if not checks.enforced else COMPARED
        patches.set(torch.nn.Module, "to_empty", _filling(torch.nn.Module.to_empty, empty))
    if checks.enforced:
        return
    patches.set(torch.nn.Module, "load_state_dict", _loading(torch.nn.Module.load_state_dict))
    if driver.terms.wrapped:
        patches.set(torch.serialization, "_validate_device", _validating(driver))
        asked = torch.cuda.get_device_properties
        patches.set(torch.cuda, "get_device_properties", _counted(asked, driver))
    patches.set(torch.nn.DataParallel, "__call__", _home(driver))
    fake: Any = _fake_tensor()
    patches.set(fake, "_find_common_device", staticmethod(_lenient(fake._find_common_device)))


def _home(driver: Driver) -> Callable[..., Any]:
    """DataParallel and what derives from it want their module on the first of their GPUs: there it is."""
    call: Any = torch.nn.Module.__call__

    def __call__(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        if self.device_ids:
            home = driver.resolve(self.device_ids[0])
            for tensor in (*self.module.parameters(), *self.module.buffers()):
                place(tensor, home)
        return call(self, *inputs, **kwargs)

    return __call__


def _loading(original: Any) -> Callable[..., Any]:
    """`Module.load_state_dict` that gives a module on the meta device what it is given."""

    def load_state_dict(
        self: Any, state_dict: Any, strict: bool = True, assign: bool = False
    ) -> Any:
        bare = any(one.is_meta for one in (*self.parameters(), *self.buffers()))
        return original(self, state_dict, strict=strict, assign=assign or bare)

    return load_state_dict


def _counted(original: Any, driver: Driver) -> Callable[..., Any]:
    """What is asked of a GPU by its number is asked of one that is there."""

    def asked(device: Any = None) -> Any:
        return original(device % driver.count() if isinstance(device, int) else device)

    return asked


def _validating(driver: Driver) -> Callable[..., Any]:
    """Where a checkpoint says that a tensor was: on a GPU that is there, or on the cpu."""

    def validate(location: str, backend_name: str) -> torch.device:
        if backend_name != "cuda" or not driver.count() or not torch.cuda.is_available():
            return torch.device("cpu")
        return driver.resolve(location)

    return validate


def _filling(original: Any, value: float) -> Callable[..., Any]:
    """`Module.to_empty` whose memory holds one value."""

    def to_empty(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        with torch.no_grad():
            for tensor in (*made.parameters(), *made.buffers()):
                if tensor.is_floating_point() and tensor.device.type != "meta":
                    tensor.fill_(value)
        return made

    return to_empty


def _fake_tensor() -> Any:
    from torch._subclasses.fake_tensor import FakeTensor

    return FakeTensor


def _lenient(original: Any) -> Callable[..., Any]:
    """What tells on which device fake tensors meet: of several on a GPU."""

    def find(func: Any, flat_args: Any) -> tuple[Any, bool]:
        try:
            found: tuple[Any, bool] = original(func, flat_args)
        except RuntimeError:
            devices = [one.device for one in flat_args if isinstance(one, torch.Tensor)]
            return min(devices, key=lambda device: device.type == "cpu"), False
        return found

    return find
