"""Sequences of several lengths: padded or packed to one tensor, and taken apart again."""

from __future__ import annotations

from diagnose.kinds import ConstraintKind, Origin
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.machine import Meets
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.tensors import Tensor, tensors_in
from diagnose.placement.values import Unknown, Value


def packed(call: CallSite) -> Value | None:
    """``pack_padded_sequence``: its lengths are read on the host."""
    lengths, of = call.argument("lengths"), call.argument("input")
    if lengths is None:
        return None
    sides = [Meets(lengths.node, one, one) for one in tensors_in(lengths.value)]
    call.meet(ConstraintKind.HOST, sides)
    return of.value if of is not None else Unknown()


def unpacked(call: CallSite) -> Value | None:
    """``pad_packed_sequence``: the tensor, and its lengths on the cpu."""
    if call.first is None:
        return None
    first = next(tensors_in(call.first), None)
    return Items([first or Unknown(), call.tensor(CPU, Origin.OTHER)])


def put_together(call: CallSite) -> Value | None:
    """One tensor of several, where the first is."""
    if call.first is None:
        return None
    first = next(tensors_in(call.first), None)
    return wide(first) if first is not None else Unknown()


def wide(tensor: Tensor) -> Tensor:
    """A tensor that is no number."""
    found = tensor.like(tensor.device, scalar=False)
    found.element = False
    return found
