"""Something to do as soon as a program has imported torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


class AfterTorch:  # importlib.abc, whose class it would be, takes longer to import than all of the hook
    """Stands first on `sys.meta_path` until torch is imported, and lets the others find it."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Torch as the others find it, with something to do when it has been executed."""
        if name != "torch":
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            with suppress(
                Exception
            ):  # a torch that cannot be recorded is no concern of the program
                self._then()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
