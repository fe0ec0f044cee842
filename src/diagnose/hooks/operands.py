"""Which part of the failing line stands for a live object, found without running anything."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FrameType
from typing import Any

from diagnose.hooks.introspection import attributes, entries, items
from diagnose.hooks.modules import REGISTERED
from diagnose.placement.semantics import arguments, bound, calls, holds, last_name, nodes

#: Names of modules whose functions take their operands as arguments.
_TORCH = ("torch", "F", "nn")


def standing_for(
    expression: ast.AST, frame: FrameType, wanted: Callable[[Any], bool]
) -> ast.expr | None:
    """The outermost part of an expression whose value is wanted.

    Args:
        expression: of the line that a frame stands at.
        frame: holds the variables.
        wanted: tells whether a value is it.
    """
    for node in nodes(expression, ast.expr):
        if wanted(value(node, frame)):
            return node
    return None


def value(node: ast.AST, frame: FrameType) -> Any:
    """What a name, an attribute or a subscript with a literal key holds; None for all else."""
    match node:
        case ast.Name(id=name):
            return frame.f_locals.get(name, frame.f_globals.get(name))
        case ast.Attribute(value=inner, attr=name):
            held = attributes(value(inner, frame))
            if name in held:
                return held[name]
            for slot in REGISTERED:
                registered = dict(entries(held.get(slot)))
                if name in registered:
                    return registered[name]
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            for subscript, item in items(value(inner, frame)):
                if subscript == f"[{key!r}]":
                    return item
    return None


def reads(expression: ast.AST, name: str) -> bool:
    """Whether an expression reads an attribute of a name."""
    return any(one.attr == name for one in nodes(expression, ast.Attribute))


def assigned(node: ast.AST | None, scope: ast.AST, before: int) -> ast.expr | None:
    """What a variable was last assigned in a scope, above a line."""
    given = bound(scope, node.id) if isinstance(node, ast.Name) else []
    return next(
        (one.value for one in given[::-1] if one.value and one.target.lineno < before), None
    )


def listed(expression: ast.AST, tree: ast.AST) -> ast.expr | None:
    """What is appended to a list that a call is given, where one place of a file does that."""
    given = expression.args if isinstance(expression, ast.Call) else []
    names = {last_name(one) for one in given} - {""}
    found = [
        appended
        for node in calls(tree, "append")
        if isinstance(node.func, ast.Attribute) and last_name(node.func.value) in names
        for appended in node.args
    ]
    return found[0] if len(found) == 1 else None


def at_position(expression: ast.AST, function: str, name: str) -> ast.expr | None:
    """The operand of an operation, or of a call of torch, by its position or keyword.

    Args:
        expression: what failed.
        function: torch's function that was called.
        name: the operand's position in that call, or its keyword.
    """
    parts = _sides(expression)
    match expression:
        case ast.Subscript(value=inner, slice=index):
            parts = [inner, index]
        case ast.Call(func=ast.Name(id=called), args=args):
            parts = args if called == function.removeprefix("_") else []
        case ast.Call(func=ast.Attribute(value=owner, attr=attribute), args=args, keywords=named):
            if attribute != function.removeprefix("_"):
                return None
            if not name.isdigit():
                return next((one.value for one in named if one.arg == name), None)
            torch_itself = isinstance(owner, ast.Name) and owner.id in _TORCH
            parts = args if torch_itself or isinstance(owner, ast.Attribute) else [owner, *args]
    return parts[int(name)] if name.isdigit() and int(name) < len(parts) else None


def only_other(expression: ast.AST, taken: set[ast.AST]) -> ast.expr | None:
    """The one operand of an operation or a call that is not among those that are known."""
    parts = _sides(expression)
    if isinstance(expression, ast.Call):
        parts = arguments(expression)
    left_over = [
        one
        for one in parts
        if not isinstance(one, ast.Constant) and not any(holds(one, node) for node in taken)
    ]
    return left_over[0] if len(left_over) == 1 else None


def _sides(expression: ast.AST) -> list[ast.expr]:
    """The two sides of an operation; none of anything else."""
    match expression:
        case (
            ast.BinOp(left=left, right=right)
            | ast.AugAssign(target=left, value=right)
            | ast.Compare(left=left, comparators=[right])
        ):
            return [left, right]
    return []
