"""Where a program chose the first GPU for a module, though the module's wrapper is told other ones."""

from __future__ import annotations

import ast

from diagnose.placement.model import Spot, Step
from diagnose.placement.semantics import is_property, path_to, walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def listed(wrapped: Step) -> ast.Name | ast.Attribute | None:
    """The variable that lists the GPUs of a wrapper; of ``list(gpus)``, ``gpus``."""
    wraps, ids = wrapped.spot.node, None
    if isinstance(wraps, ast.Call):
        named = (one.value for one in wraps.keywords if one.arg == "device_ids")
        ids = next(named, wraps.args[1] if len(wraps.args) > 1 else None)
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
    if ids is None or (move.spot.file, move.spot.function) != (spot.file, spot.function):
        return None
    tree = spot.source.tree
    function = _around(tree, spot.node, ast.FunctionDef, ast.AsyncFunctionDef)
    scope: ast.AST = function if function is not None else tree
    owner = _around(tree, spot.node, ast.ClassDef)
    if isinstance(device, ast.Name):
        bound = _bound(scope, device.id)
        if len(bound) != 1:
            return None
        device = bound[0]
        if (first := _first(device)) is not None:
            return spot._replace(node=first) if _is_known(ids, scope, first.lineno) else None
    if owner is None or not _is_own(device):
        return None
    first = _of_class(owner, ast.unparse(device), ids, scope)
    return spot._replace(node=first) if first is not None else None


def _of_class(owner: ast.AST, device: str, ids: ast.expr, scope: ast.AST) -> ast.Constant | None:
    """The first GPU as a class chose it for the device that its objects keep, or give as a property."""
    methods = [one for one in walk(owner) if isinstance(one, _Function)]
    given = [
        (one, each.value, True)
        for one in methods
        if f"self.{one.name}" == device and is_property(one)
        for each in walk(one)
        if isinstance(each, ast.Return) and each.value is not None
    ]
    kept = [(one, value, False) for one in methods for value in _bound(one, device)]
    if len(given) + len(kept) != 1:
        return None
    method, value, later = (*given, *kept)[0]
    first = _first(value)
    if first is None:
        return None
    if _is_own(ids):
        known = later or _is_set_above(ids, method, first.lineno)
    else:
        known = method is scope and _is_known(ids, method, first.lineno)
    return first if known else None


def _first(value: ast.expr) -> ast.Constant | None:
    """The one literal that names the first GPU in an expression."""
    named = [one for one in walk(value) if isinstance(one, ast.Constant)]
    first = [one for one in named if one.value == "cuda"]
    return first[0] if len(first) == 1 else None


def _is_own(value: ast.expr) -> bool:
    """Whether an expression reads an attribute of the object, or of what it keeps."""
    return isinstance(value, ast.Attribute) and ast.unparse(value).startswith("self.")


def _bound(scope: ast.AST, name: str) -> list[ast.expr]:
    """What the statements of a scope set a variable or an attribute to."""
    return [
        one.value
        for one in walk(scope)
        if isinstance(one, ast.Assign) and [ast.unparse(t) for t in one.targets] == [name]
    ]


def _is_set_above(ids: ast.expr, method: ast.AST, line: int) -> bool:
    """Whether a method sets the attribute that an expression begins with above a line."""
    name = ".".join(ast.unparse(ids).split(".")[:2])
    return any(
        isinstance(one, ast.Attribute)
        and isinstance(one.ctx, ast.Store)
        and ast.unparse(one) == name
        and one.lineno < line
        for one in walk(method)
    )


def _is_known(name: ast.expr, scope: ast.AST, line: int) -> bool:
    """Whether what a dotted name begins with is a parameter of a scope, or bound in it above a line."""
    root = ast.unparse(name).partition(".")[0]
    return any(
        (isinstance(one, ast.arg) and one.arg == root)
        or (
            isinstance(one, ast.Name)
            and (one.id, type(one.ctx)) == (root, ast.Store)
            and one.lineno < line
        )
        for one in walk(scope)
    )


def _around(tree: ast.Module, node: ast.AST, *kinds: type[ast.AST]) -> ast.AST | None:
    """The innermost function or class that a node stands in."""
    around = reversed(path_to(tree, node))
    return next((one for one in around if isinstance(one, kinds)), None)
