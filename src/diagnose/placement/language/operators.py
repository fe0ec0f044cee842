"""Operators: what they join meets, and what comes of it is where the operands are."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from diagnose.kinds import ConstraintKind
from diagnose.placement.devices import asks_for_gpu, differ, is_rank
from diagnose.placement.iteration import special
from diagnose.placement.lattice import any_of, in_a_row
from diagnose.placement.machine import Machine, Meets
from diagnose.placement.strings import LONGEST, composed, percent
from diagnose.placement.tensors import WIDEST, Batch, Table, Tensor, inside, leading
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.type_narrowing import same_type
from diagnose.placement.values import Const, Frame, Number, Place, Unknown, Value

_LONGEST_NUMBER = 10**9
_SAME = ast.Is | ast.IsNot | ast.Eq | ast.NotEq
#: A list of so many times another is written out.
_REPEATED = 8
_SPECIAL: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.MatMult: "matmul",
    ast.Pow: "pow",
}


def join(machine: Machine, node: ast.AST, frame: Frame, *sides: tuple[ast.expr, Value]) -> Value:
    """What an operation on operands gives, and a note of what met."""
    # What is computed with was no structure: a module gives a tensor, or several.
    found = [(n, inside(v)) for n, v in sides if isinstance(v, Tensor | Batch)]
    tensors = [Meets(n, v, v) for n, v in found]
    if tensors:
        machine.meet(ConstraintKind.JOIN, node, frame, [*tensors, *unknowns(sides)])
    if tensors:
        given = outcome([side.tensor for side in tensors])
        # A number mixes with a tensor anywhere, and is then where that is.
        open_ = given.scalar and any(isinstance(value, Unknown) for _, value in sides)
        return given.like(None, scalar=False) if open_ else given
    words = [value.word for _, value in sides if isinstance(value, Number | Unknown)]
    rank = next(filter(is_rank, words), "")  # rank % device_count() is one still
    if all(isinstance(value, Const | Number) for _, value in sides):
        return Number(rank)
    return Unknown(rank)


def unknowns(sides: Iterable[tuple[ast.expr, Value]]) -> list[Meets]:
    """Operands of which nothing is known: they may be tensors."""
    return [Meets(n, v, Tensor(None)) for n, v in sides if isinstance(v, Unknown)]


def outcome(tensors: list[Tensor]) -> Tensor:
    """The tensor that an operation on tensors gives: it is where the operands with dimensions are."""
    known = leading(tensors)
    return known.computed(known.device, scalar=known.scalar)


def binary(machine: Machine, node: Any, frame: Frame) -> Value:
    """An arithmetic operation."""
    left, right = (
        machine.evaluate(machine, node.left, frame),
        machine.evaluate(machine, node.right, frame),
    )
    if isinstance(node.op, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str):
        return percent(machine, left.value, right, node, frame)
    if isinstance(left, Const) and isinstance(right, Const):
        return _computed(node.op, left.value, right.value)
    if isinstance(left, Table) and isinstance(right, Table) and isinstance(node.op, ast.BitOr):
        return Table({**left.items, **right.items}, right.more or left.more)
    if isinstance(left, Items) and isinstance(right, Items) and isinstance(node.op, ast.Add):
        return in_a_row([left, right])
    if isinstance(left, Items) and isinstance(node.op, ast.Mult):
        times = right.value if isinstance(right, Const) else None
        if isinstance(times, int) and left.more is None and 0 < times <= _REPEATED:
            return Items((left.items * times)[:WIDEST])
        return Items([], any_of(left))
    texts = [one for one in (left, right) if isinstance(one, Const) and isinstance(one.value, str)]
    if texts and isinstance(node.op, ast.Add):
        return composed(machine, (left, right), node, frame)
    if texts:
        return Unknown()
    if (name := _SPECIAL.get(type(node.op))) is not None:
        made = special(machine, left, f"__{name}__", node, frame, right)
        made = made or special(machine, right, f"__r{name}__", node, frame, left)
        if made is not None:
            return made
    return join(machine, node, frame, (node.left, left), (node.right, right))


def _computed(op: ast.operator, left: object, right: object) -> Value:
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if isinstance(left, str) and isinstance(right, str) and isinstance(op, ast.Add):
        return Const((left + right)[:LONGEST])
    if not numbers:
        return Unknown()
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    if max(abs(left), abs(right)) > _LONGEST_NUMBER:
        return Number()
    try:
        match op:
            case ast.Add():
                return Const(left + right)
            case ast.Sub():
                return Const(left - right)
            case ast.Mult():
                return Const(left * right)
            case ast.FloorDiv():
                return Const(left // right)
            case ast.Mod():
                return Const(left % right)
    except (ArithmeticError, ValueError):
        return Number()
    return Number()


def unary(machine: Machine, node: Any, frame: Frame) -> Value:
    """A sign, or ``not``."""
    value = machine.evaluate(machine, node.operand, frame)
    if isinstance(node.op, ast.Not):
        if isinstance(value, Const):
            return Const(not value.value)
        asked = asks_for_gpu(value.word) if isinstance(value, Number | Unknown) else None
        if asked is not None:
            return Const(not asked)
        return Number() if not isinstance(value, Unknown) else Unknown()
    if isinstance(value, Tensor):
        return value.like(value.device)
    if (
        isinstance(value, Const)
        and isinstance(value.value, int | float)
        and isinstance(node.op, ast.USub)
    ):
        return Const(-value.value)
    return value if isinstance(value, Number) else Unknown()


def compare(machine: Machine, node: Any, frame: Frame) -> Value:
    """A comparison."""
    left = machine.evaluate(machine, node.left, frame)
    rights = [machine.evaluate(machine, each, frame) for each in node.comparators]
    if len(rights) == 1:
        right, op = rights[0], node.ops[0]
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(right, Const) and right.value is None:
            if isinstance(left, Const):
                return Const((left.value is None) == isinstance(op, ast.Is))
            if not isinstance(left, Unknown):
                return Const(isinstance(op, ast.IsNot))
            return Unknown()
        told = same_type(left, right) if isinstance(op, _SAME) else None
        if told is not None:
            return Const(told == isinstance(op, ast.Is | ast.Eq))
        if isinstance(op, ast.Eq | ast.NotEq) and isinstance(left, Place):
            apart = differ(left.device, machine.asked(right))
            return Unknown() if apart is None else Const(apart == isinstance(op, ast.NotEq))
        if (
            isinstance(left, Const)
            and isinstance(right, Const)
            and isinstance(op, ast.Eq | ast.NotEq)
        ):
            return Const((left.value == right.value) == isinstance(op, ast.Eq))
        if isinstance(op, ast.Gt | ast.GtE | ast.Lt | ast.LtE) and (
            found := _ordered(left, right, op)
        ):
            return found
        if isinstance(op, ast.In | ast.NotIn):
            told = _contains(right, left)
            return Unknown() if told is None else Const(told == isinstance(op, ast.In))
        if isinstance(op, ast.Is | ast.IsNot):
            return Unknown()
        return join(machine, node, frame, (node.left, left), (node.comparators[0], right))
    return Unknown()


def _contains(owner: Value, item: Value) -> bool | None:
    """Whether a dict, a list or a text holds a literal; None where that is not known."""
    value = item.value if isinstance(item, Const) else None
    if not isinstance(value, str | int):
        return None
    if isinstance(owner, Table) and (owner.more is None or value in owner.items):
        return value in owner.items
    if isinstance(owner, Items) and owner.more is None and not owner.grows:
        known = all(isinstance(one, Const) for one in owner.items)
        held = (one.value for one in owner.items if isinstance(one, Const))
        return any(one == value for one in held) if known else None
    text = owner.value if isinstance(owner, Const) else None
    return value in text if isinstance(text, str) and isinstance(value, str) else None


def _ordered(left: Value, right: Value, op: ast.cmpop) -> Value | None:
    """Which of two literal numbers is larger."""
    if not (isinstance(left, Const) and isinstance(right, Const)):
        return None
    one, other = left.value, right.value
    if not (isinstance(one, int | float) and isinstance(other, int | float)):
        return None
    if isinstance(op, ast.Gt | ast.GtE):
        return Const(one > other if isinstance(op, ast.Gt) else one >= other)
    return Const(one < other if isinstance(op, ast.Lt) else one <= other)
