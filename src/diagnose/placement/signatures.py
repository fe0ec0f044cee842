"""The parameters of functions: their names, what they are where a call gives none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parameters(function: _Function) -> list[str]:
    """The names of a function's parameters, those that only a keyword gives last."""
    args = function.args
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


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
