"""Whether what a program tests holds."""

from __future__ import annotations

import ast

from diagnose.placement.devices import asks_for_gpu
from diagnose.placement.machine import Machine
from diagnose.placement.tensors import Batch, Module, Tensor
from diagnose.placement.values import Class, Const, Frame, Function, Number, Unknown


def truth(machine: Machine, node: ast.expr, frame: Frame) -> bool | None:
    """Whether a test holds, on a machine with GPUs; None where source does not tell."""
    match node:
        case ast.Compare(left=ast.Name(id="__name__")):
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            told = truth(machine, operand, frame)
            return None if told is None else not told
    value = machine.evaluate(machine, node, frame)
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Number | Unknown):
        return asks_for_gpu(value.word)
    if isinstance(value, Module | Tensor | Function | Class | Batch):
        return True if not isinstance(value, Tensor) else None
    return None
