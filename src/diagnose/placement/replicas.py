"""What the replicas of a module share though each is on its own GPU: a tensor that only one of them makes,
what a class or a file keeps, what a method keeps that is no ``__init__``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.placement.device_patterns import of_input
from diagnose.placement.model import Source, Spot, Suspect
from diagnose.placement.semantics import (
    Function,
    bindings,
    called,
    calls,
    class_of,
    dotted,
    nodes,
    stored_attributes,
)

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


def _suspect(source: Source, node: ast.AST, function: Function) -> Suspect:
    said = ast.unparse(node) if isinstance(node, ast.expr) else ""
    device = of_input(function)
    devices = (device,) if device is not None else ()
    return Suspect(CAUSE, said, Spot(source, node, function.name), devices=devices, sure=False)


def asked_again(source: Source, kept: ast.AST) -> ast.If | None:
    """The condition under which a method keeps an attribute again, or calls the one that does, if that asks
    for the attribute: it is a cache, whose device nothing asks for."""
    own = {one.attr for one in kept_by(kept)}
    for node in nodes(source.tree, ast.If) if own else ():
        if any(_fills(one, kept, source, node) for one in node.body):
            asked = nodes(node.test, ast.Attribute, ast.Constant)
            said = {one.attr if isinstance(one, ast.Attribute) else one.value for one in asked}
            return node if own & said and "device" not in said else None
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
                one.name == name and kept in one.body
                for one in nodes(source.tree, ast.FunctionDef, ast.AsyncFunctionDef)
            )
    return statement is kept


def _kept_where_asked(source: Source, function: Function) -> ast.Assign | None:
    """The statement by which a function fills what its object keeps, where it asks for that."""
    for node in nodes(function, ast.If):
        for one in node.body:
            if isinstance(one, ast.Assign) and asked_again(source, one) is node:
                return one
    return None


def read_in(spot: Spot, name: str) -> ast.expr | None:
    """What the function of a place reads first of a container that its object keeps."""
    function = spot.enclosing
    found = [
        one
        for one in (nodes(function, ast.Subscript) if function is not None else ())
        if isinstance(one.ctx, ast.Load)
        and dotted(one.value) == f"self.{name}"
        and one.lineno <= spot.line
    ]
    return min(found, key=lambda one: (one.lineno, one.col_offset), default=None)


def _called(tree: ast.Module, function: Function, line: int) -> Iterator[Function]:
    """The user's functions that a line of a function calls, or one above it."""
    above = {called(one) for one in calls(function) if one.lineno <= line}
    for node in nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef):
        if node.name in above and node is not function:
            yield node


def _reads(tree: ast.Module, function: Function) -> Iterator[ast.expr]:
    """What a function reads of a class, or of its object, that another method sets which is no
    ``__init__`` and no ``forward``."""
    classes, own = {one.name for one in nodes(tree, ast.ClassDef)}, class_of(tree, function)
    setters = [
        (one, node)
        for node in nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef)
        if node.name not in ("__init__", function.name)
        for one in stored_attributes(node)
    ]
    of_class = {dotted(one) for one, _ in setters if dotted(one.value) in classes}
    of_self = {
        dotted(one)
        for one, node in setters
        if own is not None and node in own.body and dotted(one.value) == "self"
    }
    plain = of_class | (of_self - _numbers(own))
    for read in nodes(function, ast.Attribute):
        if isinstance(read.ctx, ast.Load) and dotted(read) in plain:
            yield read


def is_kept_once(owner: ast.ClassDef | None, method: str, attribute: str) -> bool:
    """Whether only one method of a class sets an attribute, and no other one of the class calls that."""
    if owner is None or method == "forward":
        return False
    set_once = sum(one.attr == attribute for one in stored_attributes(owner)) == 1
    return set_once and all(dotted(one.func) != f"self.{method}" for one in calls(owner))


def _numbers(owner: ast.ClassDef | None) -> set[str | None]:
    """The attributes that a class sets to what is surely no tensor, a literal other than None."""
    return {
        dotted(one.target)
        for one in (bindings(owner) if owner is not None else ())
        if isinstance(one.value, ast.Constant) and one.value.value is not None
    }
