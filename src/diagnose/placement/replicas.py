"""What the replicas of a module share though each is on its own GPU: a tensor that only one of them makes,
what a class or a file keeps, what a method keeps that is no ``__init__``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.placement.model import Source, Spot, Suspect
from diagnose.placement.semantics import walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef
CAUSE = "dataparallel-replica-state"


def shared(source: Source, lines: Sequence[int]) -> Suspect | None:
    """What the functions of a traceback read that no replica has a copy of.

    Args:
        source: the file.
        lines: the lines of it that the traceback shows, innermost first.
    """
    for line in lines:
        function = source.function_at(line)
        if function is None:
            continue
        for one in (function, *_called(source.tree, function, line)):
            if (kept := _kept_where_asked(source, one)) is not None:
                asked = asked_again(source, kept)
                beside = Spot(source, asked, one.name) if asked is not None else None
                return _suspect(source, kept, one)._replace(beside=beside)
        reads = [one for one in _reads(source.tree, function) if one.lineno <= line]
        if len({ast.unparse(one) for one in reads}) == 1:
            return _suspect(source, reads[0], function)
    return None


def _suspect(source: Source, node: ast.AST, function: _Function) -> Suspect:
    said = ast.unparse(node) if isinstance(node, ast.expr) else ""
    device = device_of_input(function)
    devices = (device,) if device is not None else ()
    return Suspect(CAUSE, said, Spot(source, node, function.name), devices=devices, sure=False)


def asked_again(source: Source, kept: ast.AST) -> ast.If | None:
    """The condition under which a method keeps an attribute again, or calls the one that does, if that asks
    for the attribute: it is a cache, whose device nothing asks for."""
    names = {one.attr for one in kept_by(kept)}
    for node in walk(source.tree) if names else ():
        if isinstance(node, ast.If) and any(_fills(one, kept, source, node) for one in node.body):
            said = {
                one.attr if isinstance(one, ast.Attribute) else getattr(one, "value", None)
                for one in walk(node.test)
            }
            return node if names & said and "device" not in said else None
    return None


def kept_by(statement: ast.AST) -> list[ast.Attribute]:
    """The attributes that an assignment sets, alone or several at once."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    several = target.elts if isinstance(target, ast.Tuple) else [target]
    return [one for one in several if isinstance(one, ast.Attribute)]


def _fills(statement: ast.stmt, kept: ast.AST, source: Source, asked: ast.If) -> bool:
    """Whether a statement is the one that keeps something, or calls the object's method that has it, where
    more is asked than whether it is there: what is begun once is state, and not to be begun anew."""
    match statement:
        case _ if not isinstance(asked.test, ast.BoolOp):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
            return any(
                isinstance(one, _Function) and one.name == name and kept in one.body
                for one in walk(source.tree)
            )
    return statement is kept


def _kept_where_asked(source: Source, function: _Function) -> ast.Assign | None:
    """The statement by which a function fills what its object keeps, where it asks for that."""
    for node in walk(function):
        for one in node.body if isinstance(node, ast.If) else ():
            if isinstance(one, ast.Assign) and asked_again(source, one) is node:
                return one
    return None


def read_in(spot: Spot, name: str) -> ast.expr | None:
    """What the function of a place reads first of a container that its object keeps."""
    function = spot.enclosing
    found = [
        one
        for one in (walk(function) if function is not None else ())
        if isinstance(one, ast.Subscript)
        and isinstance(one.ctx, ast.Load)
        and ast.unparse(one.value) == f"self.{name}"
        and one.lineno <= spot.line
    ]
    return min(found, key=lambda one: (one.lineno, one.col_offset), default=None)


def device_of_input(function: ast.AST | None) -> str | None:
    """The device of what a function is given: the parameter that is one, else that of its first tensor."""
    if not isinstance(function, _Function):
        return None
    args = [*function.args.posonlyargs, *function.args.args]
    if any(one.arg == "device" for one in args):
        return "device"
    numbers = len(args) - len(function.args.defaults)  # what has a default is rarely the input
    for one in args[:numbers]:
        said = ast.unparse(one.annotation) if one.annotation is not None else "Tensor"
        if one.arg not in ("self", "cls", "ctx") and said.endswith("Tensor"):
            return f"{one.arg}.device"
    return None


def _called(tree: ast.Module, function: _Function, line: int) -> Iterator[_Function]:
    """The user's functions that a line of a function calls, or one above it."""
    names = {
        ast.unparse(one.func).rpartition(".")[2]
        for one in walk(function)
        if isinstance(one, ast.Call) and one.lineno <= line
    }
    for node in walk(tree):
        if isinstance(node, _Function) and node.name in names and node is not function:
            yield node


def _reads(tree: ast.Module, function: _Function) -> Iterator[ast.expr]:
    """What a function reads of a class, or of its object, that another method sets which is no
    ``__init__`` and no ``forward``."""
    classes = [one for one in walk(tree) if isinstance(one, ast.ClassDef)]
    own = next((one for one in classes if function in one.body), None)
    setters = [
        (one, node)
        for node in walk(tree)
        if isinstance(node, _Function) and node.name not in ("__init__", function.name)
        for one in walk(node)
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
    ]
    of_class = {
        ast.unparse(one)
        for one, _ in setters
        if isinstance(one.value, ast.Name) and one.value.id in {each.name for each in classes}
    }
    of_self = {
        ast.unparse(one)
        for one, node in setters
        if own is not None and node in own.body and ast.unparse(one.value) == "self"
    }
    plain = of_class | (of_self - _numbers(own))
    read = [one for one in walk(function) if isinstance(one, ast.Attribute)]
    yield from (one for one in read if isinstance(one.ctx, ast.Load) and ast.unparse(one) in plain)


def is_kept_once(owner: ast.ClassDef | None, method: str, attribute: str) -> bool:
    """Whether only one method of a class sets an attribute, and no other one of the class calls that."""
    inside = list(walk(owner)) if owner is not None else []
    stores = [one for one in inside if isinstance(one, ast.Attribute) and one.attr == attribute]
    set_once = sum(isinstance(one.ctx, ast.Store) for one in stores) == 1
    calls = {ast.unparse(one.func) for one in inside if isinstance(one, ast.Call)}
    return set_once and method != "forward" and f"self.{method}" not in calls


def _numbers(owner: ast.ClassDef | None) -> set[str]:
    """The attributes that a class sets to what is surely no tensor, a literal other than None."""
    return {
        ast.unparse(one.targets[0])
        for one in (walk(owner) if owner is not None else ())
        if isinstance(one, ast.Assign)
        and isinstance(one.value, ast.Constant)
        and one.value.value is not None
    }
