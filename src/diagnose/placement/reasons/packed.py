"""Where a model that was quantized for the host is given what is on a GPU, for which it has no kernels."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, DeviceType, EventKind
from diagnose.placement import quantizing
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot
from diagnose.placement.steps import Reason, is_on
from diagnose.placement.tensors import Module
from diagnose.placement.values import Frame

CAUSE = "quantized-placement"


def of_packed(stray: Meets, meeting: Meeting) -> Reason | None:
    """Why a quantized model, or what it gives, meets a GPU: the one place where the file chooses that for
    the model, else the move of the model, else the call of it; None for other operands."""
    module = stray.value if isinstance(stray.value, Module) else stray.tensor.module
    if (
        module is None
        or meeting.what not in (ConstraintKind.CALL, ConstraintKind.JOIN)
        or not is_on(stray, DeviceType.CPU)
    ):
        return None
    packed = next((one for one in module.whole().family() if one.packed), None)
    if packed is None:
        return None
    chosen = quantizing.suspect(CAUSE, [meeting.spot.source], prepared=False)
    if chosen is not None:
        return Reason(CAUSE, chosen.spot, meeting.frame)
    since = [one for one in packed.steps if one.what in (EventKind.PACKED, EventKind.MOVED)]
    last = since[-1]
    if (
        last.what == EventKind.MOVED
        and last.device is not None
        and last.device.type == DeviceType.CUDA
    ):
        return Reason(CAUSE, _moved(last.spot), meeting.frame)
    return Reason(CAUSE, *_entered(module, meeting))


def _moved(move: Spot) -> Spot:
    """What a move moves: that it goes is not all, for the model is still given what is on the GPU."""
    match move.node:
        case ast.Call(func=ast.Attribute(value=moved)):
            return move._replace(node=moved)
    return move


def _entered(module: Module, meeting: Meeting) -> tuple[Spot, Frame]:
    """The outermost call of a module, or of what it belongs to."""
    whole = {id(one) for one in module.owners()}
    spot, frame = meeting.spot, meeting.frame
    around: Frame | None = meeting.frame
    while around is not None:
        if id(around.this) in whole and around.call is not None and around.caller is not None:
            spot, frame = around.call, around.caller
        around = around.caller
    return spot, frame
