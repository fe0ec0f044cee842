"""What a module's own objects keep, which are no modules: its moves do not reach them."""

from __future__ import annotations

import ast

from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Step
from diagnose.placement.reasons.knowing import held_by, knows_device
from diagnose.placement.steps import Reason
from diagnose.placement.tensors import Module
from diagnose.placement.values import Object


def of_kept_object(stray: Meets, made: Step, meeting: Meeting) -> Reason | None:
    """Where a module reads a tensor of an object that it keeps, if that made it where no call on the way
    knows a device: who else has the object may need it where it is."""
    module, frame = meeting.frame.this, stray.tensor.frame
    holder = held_by(stray.node, meeting.frame)
    if not isinstance(module, Module) or not isinstance(holder, Object) or holder.made is None:
        return None
    if not _has(module, holder):
        return None
    if not isinstance(stray.node, ast.expr) or frame is None or knows_device(frame, made.spot):
        return None
    spot = meeting.spot._replace(node=stray.node)
    return Reason("unregistered-tensor", spot, meeting.frame)


def _has(module: Module, holder: Object) -> bool:
    """Whether a module keeps an object, or one that does."""
    kept = [one for one in module.plain.values() if isinstance(one, Object)]
    inner = (one for outer in kept for one in outer.attributes.values())
    return any(one is holder for one in (*kept, *inner))
