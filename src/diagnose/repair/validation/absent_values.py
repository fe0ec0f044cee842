"""What may not be there where an edit moves it."""

from __future__ import annotations

import ast

from diagnose.placement.semantics import holds, nodes, stored


def may_miss(moved: ast.expr, call: ast.Call, scope: ast.AST, tree: ast.Module) -> bool:
    """Whether what is moved is an object's attribute that may be None there.

    Args:
        moved: what the call moves.
        call: the move.
        scope: the function or the file that it stands in.
        tree: the file.
    """
    name = ast.unparse(moved)
    if not isinstance(moved, ast.Attribute) or not name.startswith("self."):
        return False
    bound = nodes(tree, ast.Assign)
    return any(
        isinstance(node.value, ast.IfExp)
        and isinstance(node.value.orelse, ast.Constant)
        and node.value.orelse.value is None
        and name in map(ast.unparse, node.targets)
        and not _asked(name, call, scope)
        for node in bound
    )


def bound_under(moved: ast.expr, call: ast.Call, scope: ast.AST) -> ast.Assign | None:
    """The one statement that gives a variable its value, if it stands under an ``if`` that the move is not
    under."""
    if not isinstance(moved, ast.Name) or moved.id in _arguments(scope):
        return None
    stores = [node for node in stored(scope) if node.id == moved.id]
    giving = [one for one in nodes(scope, ast.Assign) if any(to in stores for to in one.targets)]
    if len(stores) != 1 or not giving or giving[0].lineno > call.lineno:
        return None
    for node in nodes(scope, ast.If):
        for block in (node.body, node.orelse):
            if _in_block(giving[0], block) and not _in_block(call, block):
                # Who never comes here without it says so, or asks the same.
                return None if _ends(node, block) or _again(node, call, scope) else giving[0]
    return None


def _arguments(scope: ast.AST) -> set[str]:
    return {node.arg for node in nodes(scope, ast.arg)}


def _in_block(node: ast.AST, block: list[ast.stmt]) -> bool:
    return any(holds(one, node) for one in block)


def _ends(node: ast.If, block: list[ast.stmt]) -> bool:
    """Whether nothing goes on after the other branch."""
    other = node.orelse if block is node.body else node.body
    return bool(other) and isinstance(other[-1], ast.Raise | ast.Return | ast.Continue)


def _again(node: ast.If, call: ast.Call, scope: ast.AST) -> bool:
    """Whether the move stands under the same question."""
    asked = ast.unparse(node.test)
    return any(
        ast.unparse(one.test) == asked and _in_block(call, one.body) for one in nodes(scope, ast.If)
    )


def _asked(name: str, call: ast.Call, scope: ast.AST) -> bool:
    """Whether a move stands under a question for what is moved."""
    return any(
        name in ast.unparse(node.test) and holds(node, call)
        for node in nodes(scope, ast.If, ast.IfExp)
    )
