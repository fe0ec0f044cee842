"""Why what a model computes is on the host where a kernel wants a GPU: it is run before it is moved, or
never moved."""

from __future__ import annotations

import ast

from diagnose.kinds import Origin
from diagnose.placement.control_dependence import set_at
from diagnose.placement.devices import CPU, HOME
from diagnose.placement.localization.availability import handed_on, where_built
from diagnose.placement.localization.device_expressions import in_scope
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot, Suspect
from diagnose.placement.pass_through import moved_in
from diagnose.placement.provenance import born_at, device_argument, last_move, said_as
from diagnose.placement.semantics import argument, arguments, called
from diagnose.placement.tensors import Module

CAUSE = "kernel-needs-gpu"


def of_unmoved(side: Meets, meeting: Meeting) -> Suspect | None:
    """The call that runs a model above the statement that moves it, else where a model is built that
    nothing moves; None for what no model computes.

    Args:
        side: an operand on the host.
        meeting: what refuses it.
    """
    module = side.value if isinstance(side.value, Module) else side.tensor.module
    if module is None or side.tensor.maker not in (Origin.OUTPUT, Origin.WEIGHT, Origin.COMPUTED):
        return None
    whole = module.whole()
    move = last_move(whole.steps)
    name, steps = said_as(side.node), side.tensor.steps
    if move is not None:
        owner = _moved(move.spot)
        run = next((one for one in meeting.calls if one.is_above(move.spot)), None)
        if run is None or owner is None:
            return None
        return Suspect(CAUSE, name, run, steps=steps, move=move.spot, owner=owner)
    made = born_at(whole.steps)
    if made is None or whole is module:
        return None
    spot, frame = where_built(made, whole.frame)
    devices = tuple(in_scope(frame, spot, HOME)) if frame is not None else ()
    return Suspect(CAUSE, name, spot, wanted=HOME, devices=devices, steps=steps)


def of_option(side: Meets) -> Suspect | None:
    """Where the option, field or parameter is set that put an operand, or the model that computed
    it, on the cpu; None where no setting says so."""
    tensor = side.tensor
    steps = tensor.module.whole().steps if tensor.module is not None else tensor.steps
    step = last_move(steps) or born_at(steps)
    node = step.spot.node if step is not None else None
    if step is None or not isinstance(node, ast.Call):
        return None
    given = device_argument(step.spot) or (
        node.args[0] if called(node) == "to" and node.args else None
    )
    if not isinstance(given, ast.Name | ast.Attribute):
        return None
    spot = set_at(step.spot._replace(node=given))
    if spot is None or _said(spot.node) != CPU.type.value:
        return None
    return Suspect(CAUSE, said_as(side.node), spot, tensor.device, steps=tensor.steps)


def _said(setting: ast.AST) -> object:
    """What a setting says: a literal, or the default of an option."""
    if isinstance(setting, ast.Call):
        setting = argument(setting, "default") or setting
    return setting.value if isinstance(setting, ast.Constant) else None


def of_argument(side: Meets, meeting: Meeting) -> Suspect | None:
    """The argument of a call by which an operand was handed over as it is, where its function moves other
    arguments of the call, or the same variable elsewhere; None for other operands.

    Args:
        side: an operand on the host.
        meeting: what refuses it.
    """
    node, spot, frame = handed_on(side.node, meeting.spot, meeting.frame)
    call = spot.node
    if node is side.node or not isinstance(node, ast.Name) or not isinstance(call, ast.Call):
        return None
    given = arguments(call)
    others = (one for one in given if one is not node)
    again = (
        one
        for one in moved_in(spot.enclosing or spot.source.tree)
        if isinstance(one, ast.Name) and one.id == node.id
    )
    if not any(any(moved_in(one)) for one in others) and next(again, None) is None:
        return None
    devices = tuple(in_scope(frame, spot, HOME))
    there = spot._replace(node=node)
    steps = side.tensor.steps
    return Suspect(CAUSE, node.id, there, wanted=HOME, devices=devices, steps=steps)


def _moved(move: Spot) -> str | None:
    """The name of what a call moves."""
    match move.node:
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as owner)):
            return ast.unparse(owner)
    return None
