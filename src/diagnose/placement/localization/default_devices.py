"""A GPU that a parameter names by default, and the call that leaves it at that."""

from __future__ import annotations

import ast
from typing import NamedTuple

from diagnose.placement.device_patterns import told_above
from diagnose.placement.model import Spot
from diagnose.placement.semantics import (
    argument,
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
        devices = tuple(told_above(around or source.tree, call.lineno))
        name = around.name if around is not None else None
        return Call(Spot(source, call, name), devices) if devices else None
    return None


def _unpacks(call: ast.Call) -> bool:
    """Whether a call is given what another value holds, and so may tell any parameter."""
    named = any(one.arg is None for one in call.keywords)
    return named or any(isinstance(one, ast.Starred) for one in call.args)
