"""The expression for the device that is wanted, as it may be written at a suspect's spot."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.fixes.definitions.expressions import expression
from diagnose.fixes.definitions.places import class_around, functions_around
from diagnose.fixes.editing import Refused
from diagnose.placement.model import Source, Suspect


def target_device(suspect: Suspect) -> str:
    """The expression for the device that is wanted, in scope at the suspect's spot.

    Raises:
        Refused: none is in scope, and the device has no name that is sure on another machine.
    """
    for device in suspect.devices:
        try:
            expression(device)
        except Refused:
            continue
        return device
    wanted = suspect.wanted
    if (known := _by_name(suspect)) is not None:
        return known
    if wanted is not None and (wanted.type == "cpu" or wanted.number is not None):
        return f'"{wanted}"'
    raise Refused("no expression for the device is in scope")


def _by_name(suspect: Suspect) -> str | None:
    """What programs call the device they compute on, if the spot sees it: ``device``, or that of the
    module's own weights. None where another GPU than the first is meant."""
    wanted, source, node = suspect.wanted, suspect.spot.source, suspect.spot.node
    if wanted is None or wanted.type != "cuda" or (wanted.number and not wanted.home):
        return None
    functions, line = functions_around(source, node), getattr(node, "lineno", 0)
    for scope in [*functions, source.tree]:
        for one in ast.walk(scope) if scope is not source.tree else walk_top(source):
            if isinstance(one, ast.arg) and one.arg == "device":
                return "device"
            if isinstance(one, ast.Name) and one.id in ("device", "DEVICE"):
                stored = isinstance(one.ctx, ast.Store)
                if stored and (one.lineno < line or (functions and scope is source.tree)):
                    return one.id
    owner = class_around(source, node)
    if owner is None or not functions or functions[-1] not in owner.body:
        return None
    if functions[-1].name != "__init__" and any("Module" in ast.unparse(b) for b in owner.bases):
        return "next(self.parameters()).device"
    return None


def walk_top(source: Source) -> Iterator[ast.AST]:
    """The nodes of a file outside of functions and classes."""
    for statement in source.tree.body:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from ast.walk(statement)
