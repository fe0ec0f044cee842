"""What a module's own objects keep, which are no modules: its moves do not reach them."""

from __future__ import annotations

import ast

from diagnose.placement.devices import is_gpu
from diagnose.placement.localization.availability import frames, held_by, knows_device
from diagnose.placement.localization.question import Question
from diagnose.placement.model import Step
from diagnose.placement.provenance import Reason, last_move
from diagnose.placement.tensors import Module, tensors_in
from diagnose.placement.values import Frame, Object


def of_kept_object(asked: Question) -> Reason | None:
    """Where a module reads a tensor of an object that it keeps, or a method of the object does for it, if
    no call on the way to what made it knows a device, or what it was made of is brought to the GPU bit by
    bit: who else has the object may need it where it is."""
    stray, meeting, made = asked.stray, asked.meeting, asked.creation
    module, frame = _running(meeting.frame), stray.tensor.frame
    holder = held_by(stray.node, meeting.frame)
    if module is None or not isinstance(holder, Object) or holder.made is None:
        return None
    if not _has(module, holder):
        return None
    if not isinstance(stray.node, ast.expr) or frame is None:
        return None
    if knows_device(frame, made.spot) and not _is_brought(made, meeting.frame):
        return None
    return asked.used("unregistered-tensor")


def _running(frame: Frame) -> Module | None:
    """The module that runs, itself or a method of an object that it calls."""
    for around in frames(frame):
        if isinstance(around.this, Module):
            return around.this
        if not isinstance(around.this, Object):
            return None
    return None


def _is_brought(made: Step, frame: Frame) -> bool:
    """Whether a variable of a call on the way holds a part of something that was brought to the GPU."""
    for around in frames(frame):
        for value in around.names.values():
            for tensor in tensors_in(value):
                move = last_move(tensor.steps)
                there = move is not None and is_gpu(move.device)
                if there and any(step is made for step in tensor.steps):
                    return True
    return False


def _has(module: Module, holder: Object) -> bool:
    """Whether a module keeps an object, or one that does."""
    kept = [one for one in module.plain.values() if isinstance(one, Object)]
    inner = (one for outer in kept for one in outer.attributes.values())
    return any(one is holder for one in (*kept, *inner))
