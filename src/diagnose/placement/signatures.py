"""What the parameters of a function are where a call leaves them out."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def defaults(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a function that a call may leave out, each with what it is then."""
    given = function.args
    listed = [*given.posonlyargs, *given.args]
    for one, default in (
        *zip(listed[len(listed) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ):
        if default is not None:
            yield one.arg, default
