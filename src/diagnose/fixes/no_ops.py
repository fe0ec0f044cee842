"""Edits that change nothing though they change the text: a move that only repeats the move before it,
whose copy is lost, or that is asked where it went."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_MOVES = frozenset({"to", "cuda", "cpu", "xpu", "npu", "to_empty"})
#: Methods that change the tensor they are called on, beside those that end with ``_``; of those the ones
#: that modules have, too, which a move changes itself.
_CHANGING = frozenset({"record_stream"})
#: What tells where a tensor is: of what is moved for it nobody learns anything.
_WHERE = frozenset({"device", "is_cuda", "is_cpu"})
_OF_MODULES = frozenset({"requires_grad_"})


def moves_nothing(before: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> bool:
    """Whether statements and what an edit makes of them put everything at the same places, for each move
    that came repeats one: ``x.to(d).to(d)``, or ``x.to(d)`` behind ``x = y.to(d)``; or makes a copy that is
    changed and not kept: ``x.to(d).add_(1)`` as a statement.

    Both trees are changed.
    """
    settled = _Settling()
    first, second = (settled.visit(ast.Module(list(body), [])) for body in (before, after))
    return ast.dump(first) == ast.dump(second)


class _Settling(ast.NodeTransformer):
    """Takes away the moves that repeat the one before."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        return inner if inner is not None and _move(node) == _move(inner) is not None else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr in _WHERE and _move(node.value) and isinstance(node.value, ast.Call):
            node.value = getattr(node.value.func, "value", node.value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr=name) as func):
                if _changes(name) and _move(inner) and isinstance(inner.func, ast.Attribute):
                    func.value = inner.func.value
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                pairs = zip([None, *block], block, strict=False)
                block[:] = [one for last, one in pairs if last is None or not _repeats(one, last)]
        return node


def _changes(method: str) -> bool:
    """Whether a method changes the tensor that it is called on."""
    in_place = method.endswith("_") and not method.endswith("__") and method not in _OF_MODULES
    return in_place or method in _CHANGING


def _repeats(statement: ast.stmt, last: ast.stmt) -> bool:
    """Whether a statement moves a name to where the one before it has just moved what it bound to that."""
    name, move = _moved(statement)
    return move is not None and (name, move) == _moved(last)


def _moved(statement: ast.stmt) -> tuple[str, str | None]:
    """The name that a statement moves, or binds to what it moves, and the move."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner)) as call):
            return ast.unparse(owner), _move(call)
        case ast.Assign(targets=[target], value=value):
            return ast.unparse(target), _move(value)
    return "", None


def _move(node: ast.AST) -> str | None:
    """A move without what it moves, such as ``to(device)``; None for what is none."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in _MOVES:
            bare = ast.Call(ast.Name(name), node.args, node.keywords)
            return ast.unparse(bare)
    return None
