"""What a call of an object runs, by its form: ``__call__``, or the ``forward`` of a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.placement.holding import within
from diagnose.placement.model import Source
from diagnose.placement.signatures import given_by_calls, parameters
from diagnose.placement.walking import walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_RUN = ("__call__", "forward")
#: Names that lead to other names, at most.
_FURTHER = 4


def run_by(source: Source, function: ast.AST, line: int) -> Iterator[_Function]:
    """The methods that the calls of a line of a function run, of objects that the file makes.

    Args:
        source: the file.
        function: the function that the line stands in.
        line: its number.

    Returns:
        One method of each object of which the file shows one class alone, on whatever way it comes from
        where it is made: ``self.rows(x)``, of ``self.rows = rows``, of ``Net(Rows())``.
    """
    for call in walk(function):
        if not isinstance(call, ast.Call) or not call.lineno <= line <= (call.end_lineno or line):
            continue
        found = set(_classes(source.tree, call.func, _FURTHER))
        for made in found if len(found) == 1 else ():
            methods = {one.name: one for one in made.body if isinstance(one, _Function)}
            run = next((methods[name] for name in _RUN if name in methods), None)
            if run is not None and run is not function:
                yield run


def _classes(tree: ast.Module, value: ast.expr, left: int) -> Iterator[ast.ClassDef]:
    """The classes of the file that an expression may be an object of."""
    if (held := within(value)) is not None:
        for one in held:
            yield from _classes(tree, one, left)
        return
    match value:
        case ast.Call(func=ast.Name(id=name)):
            for node in walk(tree):
                if isinstance(node, ast.ClassDef) and node.name == name:
                    yield node
        case ast.Name(id=name) | ast.Attribute(attr=name) if left:
            for bound in _bound(tree, value, name):
                yield from _classes(tree, bound, left - 1)


def _bound(tree: ast.Module, value: ast.expr, name: str) -> Iterator[ast.expr]:
    """What a variable or an attribute of a name is set to, and what calls give a parameter of that name."""
    for node in walk(tree):
        match node:
            case (
                ast.Assign(targets=[target], value=said)
                | ast.AnnAssign(target=target, value=ast.expr() as said)
            ):
                if _is_named(target, value, name):
                    yield said
            case ast.FunctionDef() if isinstance(value, ast.Name) and _stands_in(value, node):
                given = given_by_calls(tree, node, name) if name in parameters(node) else ()
                yield from (one for one in given if one is not None)


def _is_named(target: ast.expr, value: ast.expr, name: str) -> bool:
    if isinstance(value, ast.Name):
        return isinstance(target, ast.Name) and target.id == name
    return isinstance(target, ast.Attribute) and target.attr == name


def _stands_in(value: ast.expr, function: _Function) -> bool:
    return any(one is value for one in walk(function))
