"""Modules that can be imported for a while, and installed ones that are completed when imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from diagnose.simulation.patches import Patches

Fill = Callable[[ModuleType], None]
"""Puts into a module what it holds."""


class Offers:
    """Modules on offer until the patches are undone; then those that were imported are forgotten."""

    def __init__(self, patches: Patches) -> None:
        self._first, self._last = _Finder(), _Finder(folders=True)
        self._completing = _Completing()
        before = set(sys.modules)
        sys.meta_path[:0] = [self._first, self._completing]
        sys.meta_path.append(self._last)
        patches.at_end(lambda: self._withdraw(before))

    def instead(self, name: str, fill: Fill) -> None:
        """A module in place of an installed one of this name; the package above it is made if missing."""
        self._first.fills[name] = fill
        package = name.rpartition(".")[0]
        if package:
            self._last.fills[package] = lambda module: None

    def completed(self, name: str, complete: Fill) -> None:
        """What is done to an installed module as soon as it has been imported, or has been already."""
        if name in sys.modules:
            complete(sys.modules[name])
        else:
            self._completing.fills[name] = complete

    def _withdraw(self, before: set[str]) -> None:
        ours = (self._first, self._completing, self._last)
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in ours]
        for name in set(sys.modules) - before:
            module = sys.modules[name]
            if getattr(getattr(module, "__spec__", None), "loader", None) in ours:
                del sys.modules[name]
                parent, _, child = name.rpartition(".")
                vars(sys.modules.get(parent, module)).pop(child, None)


class _Finder(MetaPathFinder, Loader):
    """Finds what it has a fill for."""

    def __init__(self, folders: bool = False) -> None:
        self.fills: dict[str, Fill] = {}
        self._folders = folders

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Say that a module on offer comes from here."""
        if name not in self.fills:
            return None
        return ModuleSpec(name, self, is_package=self._folders)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        self.fills[module.__name__](module)


class _Completing(MetaPathFinder):
    """Finds installed modules as Python does, and completes them."""

    def __init__(self) -> None:
        self.fills: dict[str, Fill] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that Python finds, with a loader that does more."""
        if name not in self.fills:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            load, complete = loader.exec_module, self.fills[name]

            def exec_module(module: ModuleType) -> None:
                load(module)
                complete(module)

            loader.exec_module = exec_module
        return spec
