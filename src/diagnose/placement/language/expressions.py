"""Expressions of the user's files, evaluated to abstract values: what an operator joins meets, and what
comes of it is where the operands are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from diagnose.kinds import ConstraintKind, DeviceType, EventKind
from diagnose.placement.assignments import element, iterated, special, store
from diagnose.placement.devices import asks_for_gpu, differ, is_rank, written
from diagnose.placement.language.control_flow import Ways, truth, yielded
from diagnose.placement.language.displays import comprehended, listed, subscript, table
from diagnose.placement.lattice import any_of, in_a_row, joined
from diagnose.placement.machine import Arguments, Given, Machine, Meets
from diagnose.placement.model import Device
from diagnose.placement.python_types import LONGEST, composed, percent, same_type
from diagnose.placement.tensors import WIDEST, Batch, Table, Tensor, inside, leading
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Around,
    Const,
    External,
    Frame,
    Function,
    Number,
    Place,
    Unknown,
    Value,
)

_BUILTINS = (
    frozenset(dir(__builtins__)) if not isinstance(__builtins__, dict) else frozenset(__builtins__)
)


def evaluate(machine: Machine, node: ast.expr | None, frame: Frame) -> Value:
    """The value of an expression; unknown where it is not understood."""
    machine.spend()
    run = _RUN.get(type(node))
    return run(machine, node, frame) if run is not None else Unknown()


def _constant(machine: Machine, node: Any, frame: Frame) -> Value:
    found = Const(node.value)
    if isinstance(node.value, str) and written(node.value) is not None:
        found.steps = machine.step(EventKind.MADE, node, frame)
    return found


def _name(machine: Machine, node: Any, frame: Frame) -> Value:
    found = frame.get(node.id)
    if found is not None:
        return found
    if node.id in _BUILTINS:
        return External(f"builtins.{node.id}")
    return Unknown(node.id)


def _attribute(machine: Machine, node: Any, frame: Frame) -> Value:
    owner = evaluate(machine, node.value, frame)
    return machine.attribute(machine, owner, node.attr, node, frame)


def _call(machine: Machine, node: Any, frame: Frame) -> Value:
    function = evaluate(machine, node.func, frame)
    listed, named, opened = list[Given](), dict[str, Given](), False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            if machine.defaults and ast.unparse(argument) == "*sys.argv[1:]":
                continue  # without any the function's defaults hold
            value = iterated(machine, evaluate(machine, argument.value, frame), argument, frame)
            if isinstance(value, Items) and value.more is None:
                listed += [Given(argument.value, item) for item in value.items[:WIDEST]]
            else:
                opened = True
                listed.append(
                    Given(
                        argument.value,
                        value if isinstance(value, Batch) else element(machine.torch, value),
                    )
                )
        else:
            listed.append(Given(argument, evaluate(machine, argument, frame)))
    for keyword in node.keywords:
        value = evaluate(machine, keyword.value, frame)
        if keyword.arg is not None:
            named[keyword.arg] = Given(keyword.value, value)
        elif isinstance(value, Table) and value.more is None:
            named |= {str(key): Given(keyword.value, item) for key, item in value.items.items()}
        else:
            opened = True
            named["**"] = Given(keyword.value, value)
    return machine.invoke(machine, function, Arguments(listed, named, opened), node, frame)


def _boolean(machine: Machine, node: Any, frame: Frame) -> Value:
    found: Value | None = None
    for each in node.values:
        value = evaluate(machine, each, frame)
        if isinstance(value, Const):
            if bool(value.value) is isinstance(node.op, ast.Or):
                return value if found is None else joined(found, value)
            last: Value = value
            found = last if each is node.values[-1] and found is None else found
            continue
        found = value if found is None else joined(found, value)
        if isinstance(node.op, ast.Or) and isinstance(value, Items) and any(value.every()):
            break  # ``[... for i in range(device_count())] or ["cpu"]``: on a machine with GPUs
    return found if found is not None else Const(None)


def _conditional(machine: Machine, node: Any, frame: Frame) -> Value:
    test = truth(machine, node.test, frame)
    if test is not None and not machine.trace.ends_in(frame.source, node):
        return evaluate(machine, node.body if test else node.orelse, frame)
    ways = Ways(machine)
    one = evaluate(machine, node.body, frame)
    ways.end()
    other = evaluate(machine, node.orelse, frame)
    ways.end()
    ways.join()
    found = joined(one, other)
    if isinstance(found, Unknown):  # "cuda:0" if gpu else "cpu": on a machine with GPUs
        said = (value for value in (one, other) if not isinstance(value, Tensor))
        places = [machine.asked(value) for value in said]
        gpu = [place for place in places if place is not None and place.type == DeviceType.CUDA]
        # A number alone may be one of anything.
        if gpu and any(
            isinstance(one.value if isinstance(one, Const) else one, str | Place)
            for one in (one, other)
        ):
            return Place(Device(DeviceType.CUDA, gpu[0].number, home=True))
    return found


def _formatted(machine: Machine, node: Any, frame: Frame) -> Value:
    found: list[str | Value] = []
    for each in node.values:
        if isinstance(each, ast.Constant):
            found.append(str(each.value))
        else:
            value = evaluate(machine, each.value, frame)
            found.append(value if each.format_spec is None else Unknown())
    return composed(machine, found, node, frame)


def _lambda(machine: Machine, node: Any, frame: Frame) -> Value:
    return Function(node, frame.source, Around(frame), "<lambda>")


def _walrus(machine: Machine, node: Any, frame: Frame) -> Value:
    value = evaluate(machine, node.value, frame)
    store(machine, node.target, value, frame, node)
    return value


def _inner(machine: Machine, node: Any, frame: Frame) -> Value:
    return evaluate(machine, node.value, frame) if node.value is not None else Const(None)


def _yielded(machine: Machine, node: Any, frame: Frame) -> Value:
    value = evaluate(machine, node.value, frame) if node.value is not None else Const(None)
    frame.result.append(value)
    frame.yields = True
    yielded(frame, value, node)
    return Unknown()


def _yielded_from(machine: Machine, node: Any, frame: Frame) -> Value:
    items = iterated(machine, evaluate(machine, node.value, frame), node.value, frame)
    frame.result.append(element(machine.torch, items))
    frame.yields = True
    return Unknown()


def _slice(machine: Machine, node: Any, frame: Frame) -> Value:
    for part_ in (node.lower, node.upper, node.step):
        if part_ is not None:
            evaluate(machine, part_, frame)
    return Number()


_Run = Callable[[Machine, Any, Frame], Value]


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
    match left, node.op, right:
        case Table(), ast.BitOr(), Table():
            return Table({**left.items, **right.items}, right.more or left.more)
        case Items(), ast.Add(), Items():
            return in_a_row([left, right])
        case Items(more=None), ast.Mult(), Const(value=int(times)) if 0 < times <= _REPEATED:
            return Items((left.items * times)[:WIDEST])
        case Items(), ast.Mult(), _:
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


def _told(answer: bool | None, wanted: bool) -> Value:
    return Unknown() if answer is None else Const(answer == wanted)


def compare(machine: Machine, node: Any, frame: Frame) -> Value:
    """A comparison."""
    left = machine.evaluate(machine, node.left, frame)
    rights = [machine.evaluate(machine, each, frame) for each in node.comparators]
    if len(rights) == 1:
        right, op = rights[0], node.ops[0]
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(right, Const) and right.value is None:
            none = isinstance(left, Const) and left.value is None
            return _told(None if isinstance(left, Unknown) else none, isinstance(op, ast.Is))
        told = same_type(left, right) if isinstance(op, _SAME) else None
        if told is not None:
            return Const(told == isinstance(op, ast.Is | ast.Eq))
        if isinstance(op, ast.Eq | ast.NotEq) and isinstance(left, Place):
            return _told(differ(left.device, machine.asked(right)), isinstance(op, ast.NotEq))
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
            return _told(_contains(right, left), isinstance(op, ast.In))
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


_RUN: dict[type, _Run] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.BoolOp: _boolean,
    ast.Compare: compare,
    ast.IfExp: _conditional,
    ast.JoinedStr: _formatted,
    ast.List: listed,
    ast.Tuple: listed,
    ast.Set: listed,
    ast.Dict: table,
    ast.ListComp: comprehended,
    ast.SetComp: comprehended,
    ast.GeneratorExp: comprehended,
    ast.DictComp: comprehended,
    ast.Subscript: subscript,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded_from,
    ast.Slice: _slice,
}
