"""What an object that was moved makes anew where it was made before: the move did not reach that."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.kinds import EventKind
from diagnose.placement.model import Spot, Step
from diagnose.placement.reasons.knowing import has_device, statement_around
from diagnose.placement.reasons.scope import in_scope
from diagnose.placement.steps import born_at
from diagnose.placement.tensors import Tensor
from diagnose.placement.values import Frame, Object


def made_again(tensor: Tensor, holder: Object) -> tuple[Spot, Frame | None] | None:
    """Where a method of an object makes a tensor that the object keeps, once that was made itself: the
    statement that calls the method, if a device is known there; None where ``__init__`` makes it.

    Args:
        tensor: what the object keeps.
        holder: the object.
    """
    made, frame = born_at(tensor.steps), tensor.frame
    if made is None or frame is None or frame.this is not holder:
        return None
    inner = frame
    while inner.this is holder:
        if (inner.function or "").endswith(".__init__"):
            return None
        if inner.call is None or inner.caller is None:
            return made.spot, frame
        call, inner = inner.call, inner.caller
    alone = isinstance(statement_around(call), ast.Expr) and isinstance(call.node, ast.Call)
    known = has_device(inner, call) or next(in_scope(inner, call, None), None) is not None
    return (call, inner) if alone and known else (made.spot, frame)


def put_in_place(steps: Sequence[Step], held: Step) -> Spot | None:
    """Where a copy of what a list or dict holds is put in the place of a registered tensor; None where it
    is used as it is held."""
    later = steps[next(n for n, step in enumerate(steps) if step is held) + 1 :]
    return next((step.spot for step in reversed(later) if step.what == EventKind.PUT), None)
