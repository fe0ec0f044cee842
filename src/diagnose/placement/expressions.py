"""Expressions of the user's files, evaluated to abstract values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from diagnose.placement.devices import HOME, RANKED, is_rank, named_so, written
from diagnose.placement.frames import Arguments, Frame, Given, Machine, Meets, joined
from diagnose.placement.model import Device
from diagnose.placement.statements import element, part, store, truth
from diagnose.placement.values import (
    Batch,
    Class,
    Const,
    External,
    Function,
    Loader,
    Module,
    Number,
    Object,
    Place,
    Table,
    Tensor,
    Unknown,
    Value,
)
from diagnose.placement.values import Sequence as Items

_LONGEST_NUMBER = 10**9
_LONGEST_STRING = 1000
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
        found.steps = machine.step("made", node, frame)
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
    listed: list[Given] = []
    named: dict[str, Given] = {}
    opened = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = evaluate(machine, argument.value, frame)
            if isinstance(value, Items) and value.more is None:
                listed += [Given(argument.value, item) for item in value.items]
            else:
                opened = True
                listed.append(
                    Given(argument.value, value if isinstance(value, Batch) else element(value))
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


def join(machine: Machine, node: ast.AST, frame: Frame, *sides: tuple[ast.expr, Value]) -> Value:
    """What an operation on operands gives, and a note of what met."""
    tensors = [Meets(n, v, v) for n, v in sides if isinstance(v, Tensor)]
    if tensors:
        machine.meet("join", node, frame, [*tensors, *unknowns(sides)])
    if tensors:
        return outcome([side.tensor for side in tensors])
    if all(isinstance(value, Const | Number) for _, value in sides):
        return Number()
    return Unknown()


def unknowns(sides: Iterable[tuple[ast.expr, Value]]) -> list[Meets]:
    """Operands of which nothing is known: they may be tensors."""
    return [Meets(n, v, Tensor(None)) for n, v in sides if isinstance(v, Unknown)]


def outcome(tensors: list[Tensor]) -> Tensor:
    """The tensor that an operation on tensors gives: it is where the operands with dimensions are."""
    wide = [tensor for tensor in tensors if not tensor.scalar] or tensors
    known = next((t for t in wide if t.device is not None and t.device.type != "cpu"), wide[0])
    return known.like(known.device, scalar=known.scalar)


def _binary(machine: Machine, node: Any, frame: Frame) -> Value:
    left, right = evaluate(machine, node.left, frame), evaluate(machine, node.right, frame)
    if isinstance(left, Const) and isinstance(right, Const):
        return _computed(node.op, left.value, right.value)
    if isinstance(left, Items) and isinstance(right, Items) and isinstance(node.op, ast.Add):
        return Items(
            [*left.items, *right.items],
            joined(left.more, right.more) if left.more or right.more else None,
        )
    if isinstance(left, Items) and isinstance(node.op, ast.Mult):
        return left
    if isinstance(left, Const) and isinstance(left.value, str):
        return Unknown()
    return join(machine, node, frame, (node.left, left), (node.right, right))


def _computed(op: ast.operator, left: object, right: object) -> Value:
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if isinstance(left, str) and isinstance(right, str) and isinstance(op, ast.Add):
        return Const((left + right)[:_LONGEST_STRING])
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


def _unary(machine: Machine, node: Any, frame: Frame) -> Value:
    value = evaluate(machine, node.operand, frame)
    if isinstance(node.op, ast.Not):
        if isinstance(value, Const):
            return Const(not value.value)
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
    return found if found is not None else Const(None)


def _compare(machine: Machine, node: Any, frame: Frame) -> Value:
    left = evaluate(machine, node.left, frame)
    rights = [evaluate(machine, each, frame) for each in node.comparators]
    if len(rights) == 1:
        right, op = rights[0], node.ops[0]
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(right, Const) and right.value is None:
            if isinstance(left, Const):
                return Const((left.value is None) == isinstance(op, ast.Is))
            if not isinstance(left, Unknown):
                return Const(isinstance(op, ast.IsNot))
            return Unknown()
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
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, Table) and right.more is None:
            if isinstance(left, Const) and isinstance(left.value, str | int):
                return Const((left.value in right.items) == isinstance(op, ast.In))
            return Unknown()
        if isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return Unknown()
        return join(machine, node, frame, (node.left, left), (node.comparators[0], right))
    return Unknown()


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


def _conditional(machine: Machine, node: Any, frame: Frame) -> Value:
    test = truth(machine, node.test, frame)
    if test is not None:
        return evaluate(machine, node.body if test else node.orelse, frame)
    one, other = evaluate(machine, node.body, frame), evaluate(machine, node.orelse, frame)
    found = joined(one, other)
    if isinstance(found, Unknown):  # "cuda:0" if gpu else "cpu": on a machine with GPUs
        places = [machine.asked(value) for value in (one, other)]
        gpu = [place for place in places if place is not None and place.type == "cuda"]
        if gpu:
            return Place(Device("cuda", gpu[0].number, home=True))
    return found


def _formatted(machine: Machine, node: Any, frame: Frame) -> Value:
    text, known, ranked = "", True, False
    for each in node.values:
        if isinstance(each, ast.Constant):
            text += str(each.value)
        else:
            value = evaluate(machine, each.value, frame)
            if isinstance(value, Const) and each.format_spec is None:
                text += str(value.value)
            else:
                known = False
                text += "\0"
                ranked = ranked or (isinstance(value, Number | Unknown) and is_rank(value.word))
    if known:
        return Const(text[:_LONGEST_STRING])
    if text.startswith(("cuda:\0", "cuda\0")):
        return Place(RANKED if ranked else HOME, machine.step("made", node, frame))
    return Unknown()


def _listed(machine: Machine, node: Any, frame: Frame) -> Value:
    items: list[Value] = []
    more: Value | None = None
    for each in node.elts:
        if isinstance(each, ast.Starred):
            value = evaluate(machine, each.value, frame)
            if isinstance(value, Items) and value.more is None:
                items += value.items
            else:
                more = element(value)
        else:
            items.append(evaluate(machine, each, frame))
    return Items(items, more)


def _table(machine: Machine, node: Any, frame: Frame) -> Value:
    found = Table({})
    for key, item in zip(node.keys, node.values, strict=True):
        value = evaluate(machine, item, frame)
        if key is None:
            if isinstance(value, Table):
                found.items |= value.items
                found.more = value.more or found.more
            else:
                found.more = element(value)
            continue
        name = evaluate(machine, key, frame)
        if isinstance(name, Const) and isinstance(name.value, str | int):
            found.items[name.value] = value
        else:
            found.more = value
    return found


def _comprehended(machine: Machine, node: Any, frame: Frame) -> Value:
    inner = Frame(
        frame.source, dict(frame.names), frame.around, frame.function, frame.this, frame.owner
    )
    inner.lines = frame.lines
    for clause in node.generators:
        items = evaluate(machine, clause.iter, inner)
        store(machine, clause.target, element(items), inner, node)
        for test in clause.ifs:
            evaluate(machine, test, inner)
    if isinstance(node, ast.DictComp):
        evaluate(machine, node.key, inner)
        return Table({}, evaluate(machine, node.value, inner))
    return Items([], evaluate(machine, node.elt, inner))


def _subscript(machine: Machine, node: Any, frame: Frame) -> Value:
    owner = evaluate(machine, node.value, frame)
    inside = node.slice
    if isinstance(owner, Tensor):
        indices = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        for index in indices:
            value = evaluate(machine, index, frame)
            if isinstance(value, Tensor | Unknown):
                by = value if isinstance(value, Tensor) else Tensor(None)
                sides = [Meets(node.value, owner, owner), Meets(index, value, by)]
                machine.meet("index", node, frame, sides)
        return owner.like(owner.device)
    key = evaluate(machine, inside, frame)
    match owner:
        case Batch():
            return owner.inner.like(owner.inner.device)
        case Loader():
            return owner.item
        case Table():
            if (
                isinstance(key, Const)
                and isinstance(key.value, str | int)
                and key.value in owner.items
            ):
                return owner.items[key.value]
            return _any(owner)
        case Items():
            if isinstance(inside, ast.Slice):
                return owner
            if isinstance(key, Const) and isinstance(key.value, int) and owner.more is None:
                if -len(owner.items) <= key.value < len(owner.items):
                    return owner.items[key.value]
                return Unknown()
            return _any(owner)
        case Module():
            name = str(key.value) if isinstance(key, Const) else ""
            if name in owner.children:
                return owner.children[name]
            return next(iter(owner.children.values()), None) or machine.attribute(
                machine, owner, "0", node, frame
            )
        case Unknown() | External() if isinstance(inside, ast.Constant) and isinstance(
            inside.value, str
        ):
            return Unknown(inside.value)
        case Object():
            if owner.made is not None and (method := owner.made.find("__getitem__")) is not None:
                if isinstance(method, Function):
                    given = Arguments([Given(inside, key)])
                    return machine.invoke(machine, method.bound(owner), given, node, frame)
    return Unknown()


def _any(owner: Items | Table) -> Value:
    """Some item of a container."""
    found: Value | None = None
    for item in list(owner.every())[:8]:
        found = item if found is None else joined(found, item)
    return found if found is not None else Unknown()


def _lambda(machine: Machine, node: Any, frame: Frame) -> Value:
    return Function(node, frame.source, _Both(frame), "<lambda>")


class _Both(dict[str, Value]):
    """The variables around a lambda, as they are when it runs."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self._frame = frame

    def get(self, name: str, otherwise: Value | None = None) -> Value | None:  # type: ignore[override]
        found = self._frame.get(name)
        return otherwise if found is None else found


def _walrus(machine: Machine, node: Any, frame: Frame) -> Value:
    value = evaluate(machine, node.value, frame)
    store(machine, node.target, value, frame, node)
    return value


def _inner(machine: Machine, node: Any, frame: Frame) -> Value:
    return evaluate(machine, node.value, frame) if node.value is not None else Const(None)


def _yielded(machine: Machine, node: Any, frame: Frame) -> Value:
    value = evaluate(machine, node.value, frame) if node.value is not None else Const(None)
    frame.result.append(value)
    return Unknown()


def _slice(machine: Machine, node: Any, frame: Frame) -> Value:
    for part_ in (node.lower, node.upper, node.step):
        if part_ is not None:
            evaluate(machine, part_, frame)
    return Number()


_Run = Callable[[Machine, Any, Frame], Value]
_RUN: dict[type, _Run] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.JoinedStr: _formatted,
    ast.List: _listed,
    ast.Tuple: _listed,
    ast.Set: _listed,
    ast.Dict: _table,
    ast.ListComp: _comprehended,
    ast.SetComp: _comprehended,
    ast.GeneratorExp: _comprehended,
    ast.DictComp: _comprehended,
    ast.Subscript: _subscript,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.Yield: _yielded,
    ast.YieldFrom: _inner,
    ast.Slice: _slice,
}
_ = (Class, named_so, written, part)
