"""Lets code of another year be imported: packages that are not installed are stood in for, and a few names
that NumPy and Python have dropped are there again.

It is imported by programs that run a repository's file (`run_fixes.py`), beside which it is copied. A class
of a package that is stood in for can be inherited from and called; it does nothing.
"""

from __future__ import annotations

import collections
import collections.abc
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
import types
from collections.abc import Sequence
from pathlib import Path

import numpy


class _Anything(type):
    """A class that has every attribute, each such a class again."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {"__module__": cls.__module__})

    def __call__(cls, *given: object, **named: object) -> object:
        """As a decorator it leaves what it is given, else it is made and does nothing."""
        if len(given) == 1 and not named and callable(given[0]):
            return given[0]
        return super().__call__()


class _StandIn(types.ModuleType):
    """A package of which nothing is known."""

    __path__: Sequence[str] = ()
    __version__ = "99.0.0"

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {"__module__": self.__name__})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds these packages, and all that is below them."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = frozenset(packages)

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        above = name.split(".")
        if not any(".".join(above[: n + 1]) in self._packages for n in range(len(above))):
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


_STOOD_IN = set[str]()


def stand_in(*packages: str) -> None:
    """Let packages, or modules of packages, be imported that are not there."""
    _STOOD_IN.update(packages)
    sys.meta_path.append(_Finder(packages))


def _version(package: str) -> str:
    """The version of a package; one that is stood in for, or only lies in a folder, has some, too."""
    try:
        return _installed(package)
    except importlib.metadata.PackageNotFoundError:
        name = package.replace("-", "_")
        if name in _STOOD_IN or any(Path(one, name).is_dir() for one in sys.path):
            return "1.0.0"
        raise


_installed, importlib.metadata.version = importlib.metadata.version, _version


for _name, _was in (("float", float), ("int", int), ("bool", bool), ("object", object)):
    if _name not in vars(numpy):
        setattr(numpy, _name, _was)
for _name in ("Mapping", "MutableMapping", "Sequence", "Iterable", "Callable", "Sized"):
    if not hasattr(collections, _name):
        setattr(collections, _name, getattr(collections.abc, _name))
