"""What Triton's launcher asks about the pointers it is given, before any kernel runs.

It is C code that Triton compiles against the driver (`extractPointer` of backends/nvidia/driver.c; before
3.6 `getPointer` of driver.py): for each pointer among the arguments, in their order, it asks
cuPointerGetAttribute for the address under which the current GPU reaches it. None, an integer and memory of
no bytes pass unasked; pinned memory of the host has such an address. Memory of another GPU has one only
where the two GPUs were allowed to reach each other; the simulated ones are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from diagnose.simulation.checks import DeviceChecks
from diagnose.simulation.driver import Driver
from diagnose.simulation.placement import cuda

#: The last release whose sentence tells the argument's number is the one before.
_WITHOUT_NUMBER = (3, 6)


class Launcher:
    """Asks as the launcher of a release does."""

    def __init__(self, driver: Driver, checks: DeviceChecks, release: str) -> None:
        self._driver = driver
        self._checks = checks
        major, minor = release.split(".")[:2]
        self._numbered = (int(major), int(minor)) < _WITHOUT_NUMBER

    def ask(self, arguments: Iterable[Any]) -> None:
        """Raise what the launcher raises.

        Args:
            arguments: those of the kernel in their order, constants included.

        Raises:
            ValueError: a pointer is out of the current GPU's reach.
        """
        if not self._checks.enforced and self._driver.count():
            return  # without a GPU no kernel is launched
        for number, argument in enumerate(_flat(arguments)):
            if hasattr(argument, "data_ptr") and not self._reaches(argument):
                at = f" (at {number})" if self._numbered else ""
                raise ValueError(
                    f"Pointer argument{at} cannot be accessed from Triton (cpu tensor?)"
                )

    def _reaches(self, tensor: Any) -> bool:
        if tensor.data_ptr() == 0:
            return True
        tensor = getattr(tensor, "base", tensor)  # what reinterprets a tensor's memory wraps it
        here = tensor.device == cuda(self._driver.current())
        return here or bool(tensor.device.type == "cpu" and tensor.is_pinned())


def _flat(arguments: Iterable[Any]) -> Iterator[Any]:
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _flat(argument)
        else:
            yield argument
