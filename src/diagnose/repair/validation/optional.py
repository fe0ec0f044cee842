"""Edits of what is there in some calls or modes, and in others is not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

from diagnose.placement.semantics import (
    calls,
    defaults,
    functions,
    functions_by_line,
    holds,
    names,
    nodes,
    stored,
)
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch
from diagnose.repair.scopes import spans

#: A name that a line gives a value.
_GIVEN = re.compile(r"(?m)^\s*(\w+)\s*=(?!=)")


def absent(patch: Patch) -> Iterator[Sentence]:
    """No edit moves an argument that is None unless it is given, but where the function has asked."""
    for function in functions(patch.new):
        for name in sorted(_left_out(function)):
            for call in _unasked(function, name, patch.edited):
                yield said("absent", line=call.lineno, name=name)


def emptied(patch: Patch) -> Iterator[Sentence]:
    """No edit empties a branch that gives a name another value where another branch gives it one, too, or
    for which the program asks an option: it has modes, and wants there what stood there."""
    tree = patch.old
    for hunk in patch.hunks:
        line, given = hunk.gone.start + 1, _GIVEN.findall(hunk.was)
        several = any(len(list(_modes(tree, name, line))) > 1 for name in given)
        if hunk.now.strip() == "pass" and (_has_option(tree, line) or several):
            yield said("emptied", line=hunk.made.start + 1)


def _has_option(tree: ast.Module, line: int) -> bool:
    """Whether the question for which a line stands there asks an attribute or an item: ``cfg["dp"]``."""
    asked = [
        node.test for node in nodes(tree, ast.If) if any(spans(one, line) for one in node.body)
    ]
    parts = list(nodes(asked[-1], ast.Attribute, ast.Subscript)) if asked else []
    called = [call.func for call in calls(asked[-1])] if asked else []
    return not all(any(holds(one, part) for one in called) for part in parts)


def _modes(tree: ast.Module, name: str, line: int) -> Iterator[ast.stmt]:
    """The branches of a function, or of a file, that give a name a value."""
    for node in nodes(functions_by_line(tree).get(line, tree), ast.If):
        for block in (node.body, node.orelse):
            for one in block:
                targets = one.targets if isinstance(one, ast.Assign) else []
                if any(isinstance(to, ast.Name) and to.id == name for to in targets):
                    yield one


def _left_out(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The arguments that are None by default, are given no other value, and are asked whether they are."""
    return {one for one in none_by_default(function) if _is_asked(function, one)}


def none_by_default(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The arguments of a function that are None where they are not given."""
    return {
        name
        for name, value in defaults(function).items()
        if isinstance(value, ast.Constant) and value.value is None
    }


def _is_asked(function: ast.AST, name: str) -> bool:
    """Whether a function asks for a name's sake, and goes on where it is None, without another value."""
    asked = [one for one in nodes(function, ast.If, ast.IfExp) if name in names(one.test)]
    settled = any(
        isinstance(node, ast.If)
        and any(_is_without(one, name) for one in nodes(node.test, ast.expr))
        and "is not None" not in ast.unparse(node.test)
        for node in asked
    )
    return bool(asked) and not settled


def _is_without(node: ast.AST, name: str) -> bool:
    """Whether a test holds where a name is None."""
    match node:
        case ast.Compare(
            left=ast.Name(id=asked), ops=[ast.Is()], comparators=[ast.Constant(value=None)]
        ):
            return asked == name
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=asked)):
            return asked == name
    return False


def _unasked(function: ast.AST, name: str, edited: Set[int]) -> Iterator[ast.Call]:
    """The edited moves of a name that stand under no question for it."""
    for node in ast.iter_child_nodes(function):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="to" | "cuda" | "cpu", value=ast.Name(id=moved))
            ) if moved == name and node.lineno in edited:
                yield node
            case ast.If(test=test) | ast.IfExp(test=test) if name in names(test):
                continue
            case ast.BoolOp() if name in names(node.values[0]):
                continue
        yield from _unasked(node, name, edited)


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
