"""The installed Triton on simulated GPUs: its own interpreter runs the kernels (TRITON_INTERPRET=1)."""

from __future__ import annotations

import functools
import inspect
import os
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import torch

from diagnose.simulation.checks import DeviceChecks
from diagnose.simulation.driver import Driver
from diagnose.simulation.kernels.importable import Offers
from diagnose.simulation.kernels.launcher import Launcher
from diagnose.simulation.patches import Patches

_VARIABLE = "TRITON_INTERPRET"


def offer(offers: Offers, driver: Driver, checks: DeviceChecks, patches: Patches) -> None:
    """Let the installed Triton interpret what it would compile, after its launcher's questions."""
    if find_spec("triton") is None:
        return
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = "1"
    patches.at_end(lambda: _restore(before))
    offers.completed("triton", lambda triton: _complete(triton, driver, checks, patches))


def _restore(before: str | None) -> None:
    if before is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = before


def _complete(triton: Any, driver: Driver, checks: DeviceChecks, patches: Patches) -> None:
    from triton.runtime import interpreter, jit  # type: ignore[import-not-found, unused-ignore]

    launcher = Launcher(driver, checks, triton.__version__)
    function: Any = interpreter.InterpretedFunction
    patches.set(function, "run", _asking(function.run, launcher))
    patches.set(jit.JITFunction, "run", _compiled)
    patches.set(triton.runtime.driver, "_active", _driver(driver))


def _asking(run: Any, launcher: Launcher) -> Any:
    @functools.wraps(run)
    def asking(self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        names = inspect.signature(self.fn).parameters
        given = {name: value for name, value in kwargs.items() if name in names}
        bound = inspect.signature(self.fn).bind(*args, **given)
        bound.apply_defaults()
        if not warmup:
            launcher.ask(bound.arguments.values())
        return run(self, *args, grid=grid, warmup=warmup, **kwargs)

    return asking


def _compiled(self: Any, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(
        f"simulated GPUs interpret Triton's kernels, and {self.fn.__name__} was made to be compiled:"
        f" import Triton on the simulated GPUs, or set {_VARIABLE}=1 before"
    )


def _driver(driver: Driver) -> Any:
    """What programs ask of Triton's driver; the tuner is told that all configurations take no time."""
    properties = {"multiprocessor_count": 108, "max_shared_mem": 166912, "warpSize": 32}
    return SimpleNamespace(
        get_current_device=driver.current,
        set_current_device=driver.set_current,
        get_current_stream=lambda device: 0,
        get_active_torch_device=lambda: torch.device("cuda", driver.current()),
        get_device_interface=lambda: torch.cuda,
        get_current_target=lambda: SimpleNamespace(backend="cuda", arch=80, warp_size=32),
        get_benchmarker=lambda: lambda call, quantiles=None, **options: _once(call, quantiles),
        utils=SimpleNamespace(get_device_properties=lambda device: properties),
    )


def _once(call: Any, quantiles: Any) -> Any:
    call()
    return [0.0] * len(quantiles) if quantiles else 0.0
