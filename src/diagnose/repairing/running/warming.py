"""Imports once what all runs need: a forked process begins with it."""

from __future__ import annotations

import ast
import contextlib
import os
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from diagnose.casebase.store import load
from diagnose.errors import DiagnoseError
from diagnose.processes import import_all, undisturbed

#: What every run needs.
_ALWAYS = (
    "torch",
    "diagnose.hooks.seeing",
    "diagnose.rendering.json",
    "diagnose.repairing.running.performing",
    "diagnose.simulation.session",
    "diagnose.placement.interpreter",
)


def warm(path: Path) -> None:
    """Imports torch and the installed packages that a script names, once for all its runs.

    Raises:
        TorchMissingError: torch is not installed or too old.
        DiagnoseError: this system cannot fork.
    """
    if not hasattr(os, "fork"):
        raise DiagnoseError("diagnose fix needs a system that can fork: Linux, macOS or WSL")
    from diagnose.simulation import warm_up

    with undisturbed():
        warm_up()
    import_all((*_ALWAYS, *_imported(path)))
    load()


def _imported(path: Path) -> Iterator[str]:
    """What a file imports of installed packages: their names, and ``package.module:name`` for what it takes
    from them, for large ones import their parts when these are asked for."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    for node in ast.walk(tree):
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
        return spec is not None and "site-packages" in str(spec.origin)
    return False
