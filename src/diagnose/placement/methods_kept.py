"""Methods that an object keeps as its own: those of a module stay the first one's in its replicas."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.placement.model import Source

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Kept(NamedTuple):
    """What a class keeps under a name: its methods, as they are bound there, and the calls of them."""

    methods: Sequence[ast.Attribute]
    calls: Sequence[ast.Call]


def kept_methods(source: Source, line: int) -> Kept | None:
    """The methods that an object keeps, where a line calls one of them: ``self.modes[mode](x)``, of
    ``self.modes = {"probe": self._probe}``; None where that is not all that is done with what is kept.

    Args:
        source: the file.
        line: the number of the line.
    """
    for made in ast.walk(source.tree):
        if isinstance(made, ast.ClassDef) and made.lineno <= line <= (made.end_lineno or line):
            for call in ast.walk(made):
                if isinstance(call, ast.Call) and call.lineno <= line <= (call.end_lineno or line):
                    name = _kept_by(call)
                    if name is not None and (found := _kept(made, name)) is not None:
                        return found
    return None


def _kept_by(call: ast.Call) -> str | None:
    """The attribute of the object that a call calls, or an entry of it."""
    func = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    match func:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return None


def _kept(made: ast.ClassDef, name: str) -> Kept | None:
    own = {one.name for one in made.body if isinstance(one, _Function) and not one.decorator_list}
    bound = [
        one.value
        for one in ast.walk(made)
        if isinstance(one, ast.Assign | ast.AnnAssign) and _binds(one, name)
    ]
    if name in own or len(bound) != 1 or bound[0] is None:
        return None
    methods = list(_methods(bound[0]))
    if not methods or any(one.attr not in own for one in methods):
        return None
    calls = [one for one in ast.walk(made) if isinstance(one, ast.Call) and _kept_by(one) == name]
    uses = [
        one
        for one in ast.walk(made)
        if isinstance(one, ast.Attribute) and one.attr == name and isinstance(one.ctx, ast.Load)
    ]
    asked = [
        each
        for one in ast.walk(made)
        if isinstance(one, ast.Compare)
        for each in one.comparators
        if isinstance(each, ast.Attribute) and each.attr == name
    ]
    return Kept(methods, calls) if len(uses) == len(calls) + len(asked) else None


def _binds(statement: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(ast.unparse(one) == f"self.{name}" for one in targets)


def _methods(value: ast.expr) -> Iterator[ast.Attribute]:
    """The methods that a display binds, or a name: nothing where there is anything else."""
    items = [value]
    if isinstance(value, ast.Dict):
        items = value.values
    elif isinstance(value, ast.List | ast.Tuple):
        items = value.elts
    of_self = [
        one for one in items if isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self"
    ]
    if len(of_self) == len(items):
        yield from of_self
