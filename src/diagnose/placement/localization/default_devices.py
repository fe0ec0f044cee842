"""A GPU that a parameter names by default, and the call that leaves it at that."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.placement.model import Spot
from diagnose.placement.semantics import (
    argument,
    bindings,
    called,
    calls,
    calls_of,
    defaults,
    nodes,
    position_of,
)


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
    for function in nodes(source.tree, ast.FunctionDef):
        pairs = defaults(function).items()
        parameter = next((name for name, default in pairs if default is spot.node), None)
        if parameter is None:
            continue
        position = position_of(source.tree, function, parameter)
        leaving = [
            one
            for one in calls_of(source.tree, function)
            if argument(one, parameter, position) is None and not _unpacks(one)
        ]
        if len(leaving) != 1:
            return None
        (call,) = leaving
        around = source.function_at(call.lineno)
        devices = tuple(told_above(around or source.tree, call))
        name = around.name if around is not None else None
        return Call(Spot(source, call, name), devices) if devices else None
    return None


def _unpacks(call: ast.Call) -> bool:
    """Whether a call is given what another value holds, and so may tell any parameter."""
    named = any(one.arg is None for one in call.keywords)
    return named or any(isinstance(one, ast.Starred) for one in call.args)


def told_above(scope: ast.AST, call: ast.Call) -> Sequence[str]:
    """The devices that the lines above a call move to, or make, by a name or an attribute.

    Args:
        scope: the function that the call stands in, or the file.
        call: the call.
    """
    return list(dict.fromkeys(_told(scope, call)))


def _told(scope: ast.AST, call: ast.Call) -> Iterator[str]:
    for target, value, _ in bindings(scope):
        if value is not None and called(value) == "device" and target.lineno < call.lineno:
            yield ast.unparse(target)
    above = (one for one in calls(scope) if one.lineno < call.lineno)
    for one in sorted(above, key=lambda one: (one.lineno, one.col_offset)):
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
