"""What may not be there where an edit moves it."""

from __future__ import annotations

import ast


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
    bound = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
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
    stores = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Name) and node.id == moved.id and isinstance(node.ctx, ast.Store)
    ]
    bound = [node for node in ast.walk(scope) if isinstance(node, ast.Assign)]
    giving = [one for one in bound if any(to in stores for to in one.targets)]
    if len(stores) != 1 or not giving or giving[0].lineno > call.lineno:
        return None
    for node in ast.walk(scope):
        if isinstance(node, ast.If):
            for block in (node.body, node.orelse):
                inside = [one for statement in block for one in ast.walk(statement)]
                if giving[0] in inside and call not in inside:
                    # Who never comes here without it says so, or asks the same.
                    return None if _ends(node, block) or _again(node, call, scope) else giving[0]
    return None


def _arguments(scope: ast.AST) -> set[str]:
    return {node.arg for node in ast.walk(scope) if isinstance(node, ast.arg)}


def _ends(node: ast.If, block: list[ast.stmt]) -> bool:
    """Whether nothing goes on after the other branch."""
    other = node.orelse if block is node.body else node.body
    return bool(other) and isinstance(other[-1], ast.Raise | ast.Return | ast.Continue)


def _again(node: ast.If, call: ast.Call, scope: ast.AST) -> bool:
    """Whether the move stands under the same question."""
    asked = ast.unparse(node.test)
    return any(
        isinstance(one, ast.If)
        and ast.unparse(one.test) == asked
        and any(call in ast.walk(statement) for statement in one.body)
        for one in ast.walk(scope)
    )


def _asked(name: str, call: ast.Call, scope: ast.AST) -> bool:
    """Whether a move stands under a question for what is moved."""
    return any(
        isinstance(node, ast.If | ast.IfExp)
        and name in ast.unparse(node.test)
        and any(inner is call for inner in ast.walk(node))
        for node in ast.walk(scope)
    )
