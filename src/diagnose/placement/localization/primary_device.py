"""Where a program chose the first GPU for a module, though the module's wrapper is told other ones."""

from __future__ import annotations

import ast

from diagnose.placement.model import Spot, Step
from diagnose.placement.semantics import argument, around, bound, is_property, nodes, returned


def listed(wrapped: Step) -> ast.Name | ast.Attribute | None:
    """The variable that lists the GPUs of a wrapper; of ``list(gpus)``, ``gpus``."""
    wraps, ids = wrapped.spot.node, None
    if isinstance(wraps, ast.Call):
        ids = argument(wraps, "device_ids", 1)
    match ids:
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
            ids = inner
    return ids if isinstance(ids, ast.Name | ast.Attribute) else None


def chosen_home(move: Step, wrapped: Step) -> Spot | None:
    """Where the function that wraps a module, or its class, chose the first GPU for it
    (``device = "cuda"``), though a variable that is known there lists the wrapper's GPUs.

    Args:
        move: the step that moved the module.
        wrapped: the step that wrapped it.
    """
    ids, spot = listed(wrapped), wrapped.spot
    match move.spot.node:
        case ast.Call(func=ast.Attribute(attr="to"), args=[device, *_]):
            pass
        case _:
            return None
    if ids is None or not move.spot.is_beside(spot):
        return None
    tree = spot.source.tree
    scope: ast.AST = spot.enclosing or tree
    owner = next(around(tree, spot.node, ast.ClassDef), None)
    if isinstance(device, ast.Name):
        values = _values(scope, device.id)
        if len(values) != 1:
            return None
        device = values[0]
        if (first := _first(device)) is not None:
            return spot._replace(node=first) if _is_known(ids, scope, first.lineno) else None
    if owner is None or not _is_own(device):
        return None
    first = _of_class(owner, ast.unparse(device), ids, scope)
    return spot._replace(node=first) if first is not None else None


def _of_class(owner: ast.AST, device: str, ids: ast.expr, scope: ast.AST) -> ast.Constant | None:
    """The first GPU as a class chose it for the device that its objects keep, or give as a property."""
    methods = list(nodes(owner, ast.FunctionDef, ast.AsyncFunctionDef))
    given = [
        (one, value, True)
        for one in methods
        if f"self.{one.name}" == device and is_property(one)
        for value in returned(one)
        if value is not None
    ]
    kept = [(one, value, False) for one in methods for value in _values(one, device)]
    if len(given) + len(kept) != 1:
        return None
    method, value, later = (*given, *kept)[0]
    first = _first(value)
    if first is None:
        return None
    if _is_own(ids):
        attribute = ".".join(ast.unparse(ids).split(".")[:2])
        known = later or _is_bound_above(attribute, method, first.lineno)
    else:
        known = method is scope and _is_known(ids, method, first.lineno)
    return first if known else None


def _first(value: ast.expr) -> ast.Constant | None:
    """The one literal that names the first GPU in an expression."""
    first = [one for one in nodes(value, ast.Constant) if one.value == "cuda"]
    return first[0] if len(first) == 1 else None


def _is_own(value: ast.expr) -> bool:
    """Whether an expression reads an attribute of the object, or of what it keeps."""
    return isinstance(value, ast.Attribute) and ast.unparse(value).startswith("self.")


def _values(scope: ast.AST, name: str) -> list[ast.expr]:
    """What the statements of a scope set a variable or an attribute to."""
    return [one.value for one in bound(scope, name) if one.value is not None]


def _is_bound_above(name: str, scope: ast.AST, line: int) -> bool:
    """Whether a scope binds a name or an attribute above a line."""
    return any(one.target.lineno < line for one in bound(scope, name))


def _is_known(name: ast.expr, scope: ast.AST, line: int) -> bool:
    """Whether what a dotted name begins with is a parameter of a scope, or bound in it above a line."""
    root = ast.unparse(name).partition(".")[0]
    given = any(one.arg == root for one in nodes(scope, ast.arg))
    return given or _is_bound_above(root, scope, line)
