"""What a function takes that is told a device, from a caller that names none: it is moved there."""

from __future__ import annotations

import ast

from diagnose.placement.device_patterns import destinations
from diagnose.placement.localization.availability import has_device, key_of, runs_module, sites
from diagnose.placement.localization.question import Question
from diagnose.placement.model import Spot
from diagnose.placement.provenance import Reason
from diagnose.placement.semantics import Function, dotted, holds, parameters
from diagnose.placement.tensors import Module
from diagnose.placement.values import Frame


def taken(found: Reason, asked: Question) -> Reason:
    """The reason at the parameter by which a function takes a module that it uses beside what it moves, if
    no device is known where that is built: in the outermost of such functions. ``beside`` is its statement
    that comes to the use."""
    stray, meeting = asked.stray, asked.meeting
    if found.cause != "module-not-moved" or not isinstance(stray.value, Module) or found.owner:
        return found
    if found.frame is not None and has_device(found.frame, found.spot):
        return found
    module = stray.value.whole()
    for spot, frame in sites(meeting.spot, meeting.frame):
        function = None if runs_module(frame) else spot.enclosing
        name = key_of(module, frame.names)
        if function is not None and name is not None and _is_told(frame, function, spot):
            taking = next((one for one in parameters(function) if one.arg == name), None)
            using = next((one for one in function.body if holds(one, spot.node)), None)
            if taking is not None and using is not None and name in frame.given:
                beside = spot._replace(node=using)
                found = Reason(found.cause, spot._replace(node=taking), frame, name, beside=beside)
    return found


def _is_told(frame: Frame, function: Function, spot: Spot) -> bool:
    """Whether a function is handed a device, or moves others to that of something it is handed."""
    if isinstance(frame.this, Module):
        return False
    given = {one.arg for one in parameters(function)}
    if any(isinstance(one, ast.Name) and one.id in given for one in destinations(function)):
        return has_device(frame, spot, moved=False)
    asked = {f"{one}.device" for one in given}
    return any(dotted(one) in asked for one in destinations(function))
