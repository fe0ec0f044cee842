"""What the text of a function and of the call that runs it tells of its variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.placement import semantics
from diagnose.placement.semantics import Function

#: Methods that run when a module or an object itself is called, or a class.
_CALLED = frozenset({"forward", "__init__", "__call__"})
_OWNERS = frozenset({"self", "cls"})
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def parameters(function: Function) -> list[str]:
    """The names of all parameters, without the object that a method is of."""
    names = [one.arg for one in semantics.parameters(function)]
    return names[names[:1] != [] and names[0] in _OWNERS :]


def given_to(function: Function, call: ast.AST) -> dict[str, ast.expr]:
    """The expressions that a call gives the parameters of the function that it runs.

    Args:
        function: the function that runs.
        call: the caller's expression; one that is no call of that function gives nothing.
    """
    runs = semantics.called(call) == function.name or function.name in _CALLED
    return semantics.bound_arguments(function, call) if runs else {}


def bound_before(scope: ast.AST, line: int) -> dict[str, ast.AST]:
    """The statement of a function, or of a file, that bound each variable last above a line."""
    found: dict[str, ast.AST] = {}
    for statement in _statements(scope):
        if statement.lineno <= line:
            for one in semantics.bindings_by(statement):
                if isinstance(one.target, ast.Name):
                    found[one.target.id] = statement
    return found


def yields(function: Function) -> bool:
    """Whether a function is a generator."""
    return any(semantics.nodes(function, ast.Yield, ast.YieldFrom))


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a scope in their order, without those of functions and classes within it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, _NESTED):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child)
