"""What stands in for Triton where it is not installed: `triton.jit`, its tuner, and a small interpreter.

A kernel is run as the Python function that it is, once for each program of its grid, with the words of
`language` in place of `triton.language`.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import torch

from diagnose.simulation.checks import DeviceChecks
from diagnose.simulation.driver import Driver
from diagnose.simulation.kernels import language
from diagnose.simulation.kernels.launcher import Launcher
from diagnose.simulation.patches import Patches

#: The last release whose launcher tells which argument is out of reach.
RELEASE = "3.5.1"
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "debug")


def install(driver: Driver, checks: DeviceChecks, patches: Patches) -> None:
    """Let programs import Triton where it is not installed, until the patches are undone."""
    if find_spec("triton") is None:
        modules = _modules(Launcher(driver, checks, RELEASE))
        patches.set(builtins, "__import__", _importing(builtins.__import__, modules))


def _importing(original: Any, modules: Mapping[str, ModuleType]) -> Any:
    """An `import` that knows modules of which `sys.modules` does not: torch looks there for Triton's
    compiler, and has to find none."""

    def __import__(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        importer = str((globals or {}).get("__name__", ""))
        if level or name not in modules or importer.partition(".")[0] == "torch":
            return original(name, globals, locals, fromlist, level)
        return modules[name if fromlist else name.partition(".")[0]]

    return __import__


def _modules(launcher: Launcher) -> dict[str, ModuleType]:
    triton, words = ModuleType("triton"), ModuleType("triton.language")
    for module, held in ((words, language.LANGUAGE), (triton, _triton(launcher))):
        vars(module).update(held, __getattr__=functools.partial(_lacking, module.__name__))
    vars(triton)["language"] = words
    return {module.__name__: module for module in (triton, words)}


def _triton(launcher: Launcher) -> dict[str, Any]:
    def jit(function: Any = None, **options: Any) -> Any:
        return Kernel(function, launcher) if function else lambda found: Kernel(found, launcher)

    return {
        "__version__": RELEASE,
        "jit": jit,
        "autotune": _autotune,
        "heuristics": _heuristics,
        "Config": Config,
        "cdiv": language.LANGUAGE["cdiv"],
        "next_power_of_2": lambda n: 1 << max(n - 1, 0).bit_length(),
    }


def _lacking(module: str, name: str) -> Any:
    raise AttributeError(
        f"{module}.{name} is not known to simulated GPUs where Triton is not installed; with Triton"
        " installed its own interpreter runs the kernels"
    )


class Kernel:
    """A function that was given to `triton.jit`: `kernel[grid](...)` launches it."""

    def __init__(self, function: Callable[..., Any], launcher: Launcher) -> None:
        self.fn = function
        self._signature = inspect.signature(function)
        self.arg_names = list(self._signature.parameters)
        self._constants = {
            name
            for name, parameter in self._signature.parameters.items()
            if parameter.annotation is language.constexpr
            or "constexpr" in str(parameter.annotation)
        }
        self._launcher = launcher
        functools.update_wrapper(self, function)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return functools.partial(self.run, grid=grid)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it from another kernel."""
        if language.running.get() is None:
            raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")
        return self.fn(*args, **kwargs)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> None:
        """Run the programs of a grid, one after the other."""
        named = {name: value for name, value in kwargs.items() if name not in _OPTIONS}
        bound = self._signature.bind(*args, **named)
        bound.apply_defaults()
        if warmup:
            return
        size = (*(grid(bound.arguments) if callable(grid) else grid), 1, 1)[:3]
        self._launcher.ask(bound.arguments.values())
        given = {
            name: language.argument(value, constant=name in self._constants)
            for name, value in bound.arguments.items()
        }
        with torch.no_grad():
            for place in itertools.product(*map(range, size)):
                token = language.running.set(language.Program(place, size))
                try:
                    self.fn(**given)
                finally:
                    language.running.reset(token)


class Config:
    """A configuration that the tuner may choose."""

    def __init__(self, kwargs: Mapping[str, Any], **options: Any) -> None:
        self.kwargs = dict(kwargs)


class _Completed:
    """A kernel whose launches get arguments that their caller does not name."""

    def __init__(self, kernel: Any, more: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        self.fn = kernel
        self.arg_names = kernel.arg_names
        self._more = more

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return functools.partial(self.run, grid=grid)

    def run(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        """Launch the kernel with all arguments."""
        named = dict(zip(self.arg_names, args, strict=False)) | kwargs
        self.fn.run(*args, grid=grid, **{**self._more(named), **kwargs})


def _autotune(configs: Sequence[Config], **options: Any) -> Callable[[Any], _Completed]:
    """The first configuration: none is faster than another here."""
    return lambda kernel: _Completed(kernel, lambda named: configs[0].kwargs if configs else {})


def _heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Any]:
    def more(named: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in values.items():
            found[name] = value({**named, **found})
        return found

    return lambda kernel: _Completed(kernel, more)
