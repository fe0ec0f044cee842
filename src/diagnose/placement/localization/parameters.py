"""What a function takes that is told a device, from a caller that names none: it is moved there."""

from __future__ import annotations

import ast

from diagnose.placement.localization.availability import has_device, key_of, runs_module
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot
from diagnose.placement.provenance import Reason
from diagnose.placement.semantics import Function, calls, dotted, holds, nodes, parameters
from diagnose.placement.tensors import Module
from diagnose.placement.values import Frame


def taken(found: Reason, stray: Meets, meeting: Meeting) -> Reason:
    """The reason at the parameter by which a function takes a module that it uses beside what it moves, if
    no device is known where that is built: in the outermost of such functions. ``beside`` is its statement
    that comes to the use."""
    if found.cause != "module-not-moved" or not isinstance(stray.value, Module) or found.owner:
        return found
    if found.frame is not None and has_device(found.frame, found.spot):
        return found
    module = stray.value.whole()
    frame: Frame | None = meeting.frame
    spot: Spot | None = meeting.spot
    while frame is not None and spot is not None:
        function = None if runs_module(frame) else spot.enclosing
        name = key_of(module, frame.names)
        if function is not None and name is not None and _is_told(frame, function, spot):
            taking = next((one for one in parameters(function) if one.arg == name), None)
            using = next((one for one in function.body if holds(one, spot.node)), None)
            if taking is not None and using is not None and name in frame.given:
                beside = spot._replace(node=using)
                found = Reason(found.cause, spot._replace(node=taking), frame, name, beside=beside)
        spot, frame = frame.call, frame.caller
    return found


def _is_told(frame: Frame, function: Function, spot: Spot) -> bool:
    """Whether a function is handed a device, or moves others to that of something it is handed."""
    if isinstance(frame.this, Module):
        return False
    given = {one.arg for one in parameters(function)}
    if any(isinstance(one, ast.Name) and one.id in given for one in _targets(function)):
        return has_device(frame, spot, moved=False)
    asked = {f"{one}.device" for one in given}
    return any(dotted(one) in asked for one in _targets(function))


def _targets(function: ast.AST) -> list[ast.expr]:
    """What a function moves to, or makes something on."""
    told = (one.value for one in nodes(function, ast.keyword) if one.arg == "device")
    return [*told, *(one.args[0] for one in calls(function, "to") if one.args)]
