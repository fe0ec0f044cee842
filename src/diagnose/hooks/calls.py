"""What the text of a function and of the call that runs it tells of its variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: Methods that run when a module or an object itself is called, or a class.
_CALLED = frozenset({"forward", "__init__", "__call__"})
_OWNERS = frozenset({"self", "cls"})
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def parameters(function: Function) -> list[str]:
    """The names of all parameters, without the object that a method is of."""
    args = function.args
    names = [each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names[names[:1] != [] and names[0] in _OWNERS :]


def given_to(function: Function, call: ast.AST) -> dict[str, ast.expr]:
    """The expressions that a call gives the parameters of the function that it runs.

    Args:
        function: the function that runs.
        call: the caller's expression; one that is no call of that function gives nothing.
    """
    if not isinstance(call, ast.Call):
        return {}
    called = call.func.attr if isinstance(call.func, ast.Attribute) else None
    called = call.func.id if isinstance(call.func, ast.Name) else called
    if called != function.name and function.name not in _CALLED:
        return {}
    keywords = {each.arg for each in function.args.kwonlyargs}
    listed = [name for name in parameters(function) if name not in keywords]
    starred = next((n for n, one in enumerate(call.args) if isinstance(one, ast.Starred)), None)
    found = dict(zip(listed, call.args[:starred], strict=False))
    known = set(parameters(function))
    found |= {one.arg: one.value for one in call.keywords if one.arg in known}
    return found


def bound_before(scope: ast.AST, line: int) -> dict[str, ast.AST]:
    """The statement of a function, or of a file, that bound each variable last above a line."""
    found: dict[str, ast.AST] = {}
    for statement in _statements(scope):
        if statement.lineno <= line:
            for name in _names(statement):
                found[name] = statement
    return found


def yields(function: Function) -> bool:
    """Whether a function is a generator."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a scope in their order, without those of functions and classes within it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, _NESTED):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child)


def _names(statement: ast.stmt) -> Iterator[str]:
    """The variables that a statement itself binds."""
    targets: list[ast.expr] = []
    match statement:
        case ast.Assign():
            targets = statement.targets
        case ast.AnnAssign() | ast.AugAssign() | ast.For() | ast.AsyncFor():
            targets = [statement.target]
        case ast.With() | ast.AsyncWith():
            targets = [one.optional_vars for one in statement.items if one.optional_vars]
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
