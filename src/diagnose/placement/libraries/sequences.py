"""Sequences of several lengths: padded or packed to one tensor, and taken apart again."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU
from diagnose.placement.machine import Arguments, Machine, Meets
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.tensors import Tensor, tensors_in
from diagnose.placement.values import Frame, Unknown, Value


def sequences(
    machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What a function of ``torch.nn.utils.rnn`` gives; None of any other function.

    Args:
        machine: the analysis.
        last: the function's name.
        given: what it is called with.
        node: the call.
        frame: the variables around it.
    """
    if last == "pack_padded_sequence" and (lengths := given.get("lengths", 1)) is not None:
        sides = [Meets(lengths.node, one, one) for one in tensors_in(lengths.value)]
        machine.meet(ConstraintKind.HOST, node, frame, sides)
        packed = given.get("input", 0)
        return packed.value if packed is not None else Unknown()
    if not given.listed:
        return None
    first = next(tensors_in(given.listed[0].value), None)
    if last == "pad_packed_sequence":
        made = machine.step(EventKind.MADE, node, frame, CPU)
        return Items([first or Unknown(), Tensor(CPU, Origin.OTHER, made, frame)])
    if last in ("pad_sequence", "pack_sequence"):
        return wide(first) if first is not None else Unknown()
    return None


def wide(tensor: Tensor) -> Tensor:
    """A tensor that is no number."""
    found = tensor.like(tensor.device, scalar=False)
    found.element = False
    return found
