"""Statements that write into what NumPy or pandas keeps on the host."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind
from diagnose.placement.machine import Arguments, Given, Machine, Meets, operands
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.tensors import Table
from diagnose.placement.values import Frame, Object, Unknown, Value

#: Attributes by which an array or a table of pandas is written into.
_VIEWS = frozenset({"loc", "iloc", "flat", "T"})


def written(machine: Machine, node: ast.Assign, value: Value, frame: Frame) -> None:
    """Notes a tensor that ``array[rows] = values`` writes into an array: NumPy asks it for one, which a
    tensor of a GPU refuses.

    Args:
        machine: the analysis.
        node: the statement.
        value: what it writes.
        frame: the variables around it.
    """
    targets = [one for one in node.targets if isinstance(one, ast.Subscript)]
    if targets and not isinstance(value, Table):
        for target in targets:
            if _is_array(machine, target, frame):
                _meet(machine, target, Given(node.value, value), node, frame)


def added(machine: Machine, node: ast.AugAssign, frame: Frame) -> bool:
    """Notes a tensor that ``array += values`` computes into an array; returns whether it is one."""
    if not _is_array(machine, node.target, frame):
        return False
    value = machine.evaluate(machine, node.value, frame)
    _meet(machine, node.target, Given(node.value, value), node, frame)
    return True


def _meet(
    machine: Machine, target: ast.expr, given: Given, statement: ast.stmt, frame: Frame
) -> None:
    sides = operands(Arguments([given]))
    if _may_be_item(machine, target, frame):  # then a tensor of one number is asked for that
        sides = [_guessed(side) for side in sides if not side.tensor.scalar]
    if sides:
        machine.meet(ConstraintKind.HOST, statement, frame, sides)


def _is_array(machine: Machine, target: ast.expr, frame: Frame) -> bool:
    """Whether a target is what NumPy or pandas made, or a part of that."""
    owner = target
    while isinstance(owner, ast.Subscript) or (
        isinstance(owner, ast.Attribute) and owner.attr in _VIEWS
    ):
        owner = owner.value
    match machine.evaluate(machine, owner, frame):
        case Unknown(word="array", handed=False) | Object(kind="host"):
            return True
    return False


def _may_be_item(machine: Machine, target: ast.expr, frame: Frame) -> bool:
    """Whether a target may be one item of an array, and no row of it: no index of it is a slice, or a list
    or array of several."""
    if not isinstance(target, ast.Subscript):
        return False
    inside = target.slice
    for each in inside.elts if isinstance(inside, ast.Tuple) else [inside]:
        if isinstance(each, ast.Slice):
            return False
        match machine.evaluate(machine, each, frame):
            case Items() | Unknown(word="array"):
                return False
    return True


def _guessed(side: Meets) -> Meets:
    tensor = side.tensor.like(side.tensor.device)
    tensor.guessed = True
    return side._replace(tensor=tensor)
