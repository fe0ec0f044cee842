"""A device that is a parameter: a call leaves it out, others beside it are told one, or a function is told
one by a caller that moves nothing."""

from __future__ import annotations

import ast
from functools import lru_cache

from diagnose.placement.device_patterns import destinations, told_above
from diagnose.placement.localization.availability import has_device, key_of, runs_module, sites
from diagnose.placement.localization.context import classes_of
from diagnose.placement.localization.question import Question
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import Reason, device_argument
from diagnose.placement.semantics import (
    Function,
    argument,
    calls,
    calls_of,
    defaults,
    dotted,
    holds,
    nodes,
    parameters,
    position_of,
)
from diagnose.placement.tensors import Module
from diagnose.placement.values import Frame


def left_out(made: Step, frame: Frame | None) -> tuple[Spot, Frame] | None:
    """The call that leaves out the device for which a factory has a parameter; None where there is none."""
    said = device_argument(made.spot)
    if frame is None or frame.function != made.spot.function:
        return None
    spot = made.spot
    while isinstance(said, ast.Name) and frame.lines.get(said.id) == 0 and frame.call is not None:
        caller = frame.caller
        if caller is None or not isinstance(frame.call.node, ast.Call):
            return None
        spot, given, frame = frame.call, frame.given.get(said.id), caller
        if given is None:
            return spot, frame
        said = given
    return None


def is_forgotten_beside(made: Step) -> bool:
    """Whether a factory leaves out the device that another one of the same function, or of the other
    methods of its class, is given."""
    function = made.spot.enclosing
    owner = (made.spot.function or "").rpartition(".")[0]
    around = [*classes_of(made.spot.source.tree).get(owner, ()), *([function] if function else [])]
    return any(_makes_on_device(one) for one in around)


@lru_cache(maxsize=8)
def _makes_on_device(scope: ast.ClassDef | Function) -> bool:
    """Whether torch makes a tensor on a device that a variable holds."""
    torchs = (one for one in calls(scope) if ast.unparse(one.func).startswith("torch."))
    return any(not isinstance(argument(one, "device"), ast.Constant | None) for one in torchs)


def at_call(found: Reason, _: Question) -> Reason | None:
    """The reason at the only call of the function, or the class, whose parameter has a GPU as its default;
    None where the file has several, or where nothing above it tells another device."""
    source = found.spot.source
    for function in nodes(source.tree, ast.FunctionDef):
        pairs = defaults(function).items()
        parameter = next((name for name, default in pairs if default is found.spot.node), None)
        if parameter is None or found.cause != "hardcoded-device":
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
        spot = Spot(source, call, around.name if around is not None else None)
        return found._replace(spot=spot, devices=devices) if devices else None
    return None


def _unpacks(call: ast.Call) -> bool:
    """Whether a call is given what another value holds, and so may tell any parameter."""
    named = any(one.arg is None for one in call.keywords)
    return named or any(isinstance(one, ast.Starred) for one in call.args)


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
