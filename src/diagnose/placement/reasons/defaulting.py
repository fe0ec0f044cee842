"""A GPU that a parameter names by default, and the call that leaves it at that."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.placement.model import Spot
from diagnose.placement.semantics import called, defaults, walk


class Call(NamedTuple):
    """A call that leaves a device out: where it stands, and how the moves above it name theirs."""

    spot: Spot
    devices: tuple[str, ...]


def at_call(spot: Spot) -> Call | None:
    """The only call of the function, or the class, whose parameter has its default at a place; None where
    the file has several, or where nothing above it tells another device.

    Args:
        spot: where a GPU is written down.
    """
    source = spot.source
    for owner, function in _functions(source.tree):
        pairs = defaults(function).items()
        parameter = next((name for name, default in pairs if default is spot.node), None)
        if parameter is None:
            continue
        made = owner.name if owner is not None and function.name == "__init__" else function.name
        position = _position(function, parameter, bound=owner is not None)
        calls = [
            one
            for one in _calls(source.tree)
            if called(one) == made and not _gives(one, parameter, position)
        ]
        if len(calls) != 1:
            return None
        (call,) = calls
        around = source.function_at(call.lineno)
        devices = tuple(told_above(around or source.tree, call))
        name = around.name if around is not None else None
        return Call(Spot(source, call, name), devices) if devices else None
    return None


def _functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, ast.FunctionDef]]:
    """The functions at the top of a file, and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            yield from ((node, one) for one in node.body if isinstance(one, ast.FunctionDef))


def _position(function: ast.FunctionDef, parameter: str, *, bound: bool) -> int | None:
    """How many arguments come before a parameter, None for one that has to be named."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return names.index(parameter) - bound if parameter in names else None


def _calls(scope: ast.AST) -> list[ast.Call]:
    """The calls within a node, from the first line to the last."""
    found = [node for node in walk(scope) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda one: (one.lineno, one.col_offset))


def _gives(call: ast.Call, parameter: str, position: int | None) -> bool:
    """Whether a call tells a parameter, or may do so."""
    open_ = any(isinstance(one, ast.Starred) for one in call.args)
    named = {one.arg for one in call.keywords}
    return (
        open_
        or bool(named & {parameter, None})
        or (position is not None and len(call.args) > position)
    )


def told_above(scope: ast.AST, call: ast.Call) -> Sequence[str]:
    """The devices that the lines above a call move to, or make, by a name or an attribute.

    Args:
        scope: the function that the call stands in, or the file.
        call: the call.
    """
    return list(dict.fromkeys(_told(scope, call)))


def _told(scope: ast.AST, call: ast.Call) -> Iterator[str]:
    for node in walk(scope):
        match node:
            case ast.Assign(
                targets=[ast.Name() | ast.Attribute() as target],
                value=ast.Call(func=ast.Name(id="device") | ast.Attribute(attr="device")),
            ) if node.lineno < call.lineno:
                yield ast.unparse(target)
    for one in (each for each in _calls(scope) if each.lineno < call.lineno):
        match one:
            case ast.Call(
                func=ast.Attribute(attr="to"), args=[ast.Name() | ast.Attribute() as place]
            ):
                yield ast.unparse(place)
        yield from (
            ast.unparse(word.value)
            for word in one.keywords
            if word.arg == "device" and isinstance(word.value, ast.Name | ast.Attribute)
        )
