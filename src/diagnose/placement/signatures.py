"""The parameters of functions: their names, what calls give them, what they are where one gives none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.placement.walking import walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parameters(function: _Function) -> list[str]:
    """The names of a function's parameters, those that only a keyword gives last."""
    args = function.args
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def given_by_calls(tree: ast.Module, function: _Function, name: str) -> Iterator[ast.expr | None]:
    """What the calls of a function of a file, or of its class for an ``__init__``, give a parameter: None
    where one leaves it out; none for the object of a method."""
    classes = (one for one in walk(tree) if isinstance(one, ast.ClassDef))
    owner = next((one for one in classes if function in one.body), None)
    called = owner.name if owner is not None and function.name == "__init__" else function.name
    position = parameters(function).index(name) - (owner is not None)
    for call in walk(tree) if position >= 0 else ():
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == called:
            named = {one.arg: one.value for one in call.keywords}
            listed = call.args[position] if position < len(call.args) else None
            yield named.get(name, listed)


def is_property(function: _Function) -> bool:
    """Whether a method is read as an attribute."""
    marks = (ast.unparse(one).rpartition(".")[2] for one in function.decorator_list)
    return any(mark in ("property", "cached_property") for mark in marks)


def defaults(function: _Function) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a function that a call may leave out, each with what it is then."""
    given = function.args
    listed = [*given.posonlyargs, *given.args]
    for one, default in (
        *zip(listed[len(listed) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ):
        if default is not None:
            yield one.arg, default
