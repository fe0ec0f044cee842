"""Imports once what all runs need: a forked process begins with it."""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Iterator
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
    """The installed packages that a file imports by name."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in {name.partition(".")[0] for name in names}:
            with contextlib.suppress(ImportError, ValueError):
                spec = find_spec(name)
                if spec and "site-packages" in str(spec.origin):
                    yield name
