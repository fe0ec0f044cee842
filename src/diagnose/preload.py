"""Imports once what all runs need: a forked process begins with it."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, partial, wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from diagnose.casebase.store import load
from diagnose.errors import DiagnoseError
from diagnose.patterns import in_package
from diagnose.placement.semantics import nodes
from diagnose.processes import forked, import_all, undisturbed
from diagnose.verification.program import program_of

#: What every run needs.
_ALWAYS = (
    "torch",
    "diagnose.hooks.live",
    "diagnose.rendering.json",
    "diagnose.repair.runs.process",
    "diagnose.simulation.session",
    "diagnose.placement.analysis",
    "numpy.random",  # is seeded
)
#: Seconds that the packages of a script may take to be imported.
_LONGEST = 120
#: What a process that has imported them all says last.
_ALL = "."


def warm(path: Path) -> None:
    """Imports torch and what a script imports of installed packages, once for all its runs; not what asks
    for GPUs while it is imported, for each run has its own.

    Raises:
        TorchMissingError: torch is not installed or too old.
        DiagnoseError: this system cannot fork.
    """
    if not hasattr(os, "fork"):
        raise DiagnoseError("diagnose fix needs a system that can fork: Linux, macOS or WSL")
    from diagnose.simulation import warm_up

    with undisturbed():
        warm_up()
    import_all(_ALWAYS)
    if path.is_file() and b"optim" in path.read_bytes():
        import_all(["torch._dynamo"])  # as torch does when an optimizer is made
    names = tuple(name for name in dict.fromkeys(_imported(path)) if not _is_there(name))
    if (asking := _asking(names)) is not None:
        _import_without(names, asking)
    program_of(load())


def _is_there(name: str) -> bool:
    """Whether a module is imported, and has the name that is taken from it."""
    module, _, attribute = name.partition(":")
    return module in sys.modules and (not attribute or attribute in vars(sys.modules[module]))


def _asking(names: Sequence[str]) -> frozenset[str] | None:
    """The modules that ask for GPUs while names are imported, as a process of its own finds out; None where
    it does not come to its end."""
    with tempfile.TemporaryDirectory() as scratch:
        told = Path(scratch) / "asking"
        if names:
            forked([partial(_ask, names, told)], _LONGEST)
        found = told.read_text().split() if told.exists() else []
    return frozenset(found[:-1]) if found[-1:] == [_ALL] else None


def _ask(names: Sequence[str], told: Path) -> int:
    import torch

    asking = set[str]()
    for owner in (torch.cuda, getattr(torch, "accelerator", None)):
        for name, function in [*vars(owner).items()] if owner is not None else ():
            if isinstance(function, FunctionType) and not name.startswith("_"):
                setattr(owner, name, _noting(function, asking))
    import_all(names)
    told.write_text("\n".join([*asking, _ALL]))
    return 0


def _noting(function: Callable[..., Any], asking: set[str]) -> Callable[..., Any]:
    """A function that notes by which module's own code it is called, if by any's."""

    @wraps(function)
    def noting(*args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        while frame.f_code.co_name != "<module>" and frame.f_back is not None:
            frame = frame.f_back
        if frame.f_code.co_name == "<module>":
            asking.add(str(frame.f_globals.get("__name__")))
        return function(*args, **kwargs)

    return noting


class _Left(BaseException):
    """A module is left to the runs; to a library's ``except ImportError`` none is missing."""


class _Leaving(MetaPathFinder, Loader):
    """Finds modules, and loads none of them."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module is that is left; None for others."""
        spec = PathFinder.find_spec(name, path) if name in self._names else None
        if spec is not None:
            spec.loader = self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Refuse."""
        raise _Left


def _import_without(names: Sequence[str], left: frozenset[str]) -> None:
    """Imports names, but for modules that are left and all that needs these."""
    leaving = _Leaving(left)
    sys.meta_path.insert(0, leaving)
    try:
        for name in names:
            with contextlib.suppress(_Left):
                import_all([name])
    finally:
        sys.meta_path.remove(leaving)
    # Of a package that did not come in, no part stays: a run's own would not have it as its attribute.
    packages = {name.partition(".")[0] for name in left} - sys.modules.keys()
    for name in [one for one in sys.modules if one.partition(".")[0] in packages]:
        del sys.modules[name]


def _imported(path: Path) -> Iterator[str]:
    """What a file imports of installed packages: their names, and ``package.module:name`` for what it takes
    from them, for large ones import their parts when these are asked for."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    for node in nodes(tree, ast.Import, ast.ImportFrom):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}:{a.name}" for a in node.names if a.name != "*")]
        for name in names:
            if _is_installed(re.split(r"[.:]", name)[0]):
                yield name


@cache
def _is_installed(package: str) -> bool:
    """Whether a package is one of those that were installed, and neither Python's nor the user's own."""
    with contextlib.suppress(ImportError, ValueError):
        spec = find_spec(package)
        return spec is not None and in_package(str(spec.origin)) is not None
    return False
