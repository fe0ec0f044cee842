"""Expressions of the user's files, evaluated to abstract values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from diagnose.placement.devices import asks_for_gpu, written
from diagnose.placement.iterating import iterated
from diagnose.placement.joining import joined
from diagnose.placement.language.contexts import yielded
from diagnose.placement.language.displays import listed, subscript, table
from diagnose.placement.language.operators import binary, compare, unary
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.model import Device, Step
from diagnose.placement.storing import element, store
from diagnose.placement.tensors import WIDEST, Batch, Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.texts import composed
from diagnose.placement.values import (
    Around,
    Class,
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


def _conditional(machine: Machine, node: Any, frame: Frame) -> Value:
    test = truth(machine, node.test, frame)
    if test is not None:
        return evaluate(machine, node.body if test else node.orelse, frame)
    one, other = evaluate(machine, node.body, frame), evaluate(machine, node.orelse, frame)
    found = joined(one, other)
    if isinstance(found, Unknown):  # "cuda:0" if gpu else "cpu": on a machine with GPUs
        said = (value for value in (one, other) if not isinstance(value, Tensor))
        places = [machine.asked(value) for value in said]
        gpu = [place for place in places if place is not None and place.type == "cuda"]
        if gpu:
            return Place(Device("cuda", gpu[0].number, home=True))
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


def _comprehended(machine: Machine, node: Any, frame: Frame) -> Value:
    machine.spend(len(frame.names) // 8)
    inner = Frame(
        frame.source, dict(frame.names), frame.around, frame.function, frame.this, frame.owner
    )
    inner.lines, inner.given, inner.caller, inner.call = (
        frame.lines,
        frame.given,
        frame.caller,
        frame.call,
    )
    if (found := _each(machine, node, inner)) is not None:
        return found
    for clause in node.generators:
        items = iterated(machine, evaluate(machine, clause.iter, inner), clause.iter, inner)
        store(machine, clause.target, element(machine.torch, items), inner, node)
        for test in clause.ifs:
            evaluate(machine, test, inner)
    if isinstance(node, ast.DictComp):
        evaluate(machine, node.key, inner)
        return Table({}, evaluate(machine, node.value, inner))
    return Items([], _listed(machine, node.elt, inner), _COMPREHENDED.get(type(node), ""))


#: What a comprehension makes; a generator is of no kind that programs ask for.
_COMPREHENDED: dict[type, str] = {ast.ListComp: "list", ast.SetComp: "set"}
#: Items of a comprehension that are computed one by one.
_EACH = 8


def _each(machine: Machine, node: Any, inner: Frame) -> Value | None:
    """The items of a comprehension over a few that are known, and of which is known whether each is taken;
    None for others."""
    clause = node.generators[0]
    deepest = 3 if isinstance(node, ast.DictComp) else 1
    if len(node.generators) > 1 or machine.nested > deepest:
        return None
    items = iterated(machine, evaluate(machine, clause.iter, inner), clause.iter, inner)
    if not isinstance(items, Items) or items.more is not None or not 0 < len(items.items) <= _EACH:
        return None
    values: list[tuple[Value | None, Value]] = []
    machine.nested += 1
    try:
        for item in items.items:
            store(machine, clause.target, item, inner, node)
            taken = [truth(machine, test, inner) for test in clause.ifs]
            if None in taken:
                return None
            if not all(taken):
                continue
            if isinstance(node, ast.DictComp):
                key = evaluate(machine, node.key, inner)
                values.append((key, evaluate(machine, node.value, inner)))
            else:
                values.append((None, _listed(machine, node.elt, inner)))
    finally:
        machine.nested -= 1
    if not isinstance(node, ast.DictComp):
        return Items([value for _, value in values], None, _COMPREHENDED.get(type(node), ""))
    found = Table({})
    for name, value in values:
        if isinstance(name, Const) and isinstance(name.value, str | int):
            found.items[name.value] = value
        else:
            found.more = value
    return found


def _listed(machine: Machine, node: ast.expr, frame: Frame) -> Value:
    """An item of a comprehension; a tensor knows what listed it."""
    item = evaluate(machine, node, frame)
    if isinstance(item, Tensor):
        return item.like(item.device, Step("listed", machine.spot(node, frame), item.device))
    return item


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
    ast.ListComp: _comprehended,
    ast.SetComp: _comprehended,
    ast.GeneratorExp: _comprehended,
    ast.DictComp: _comprehended,
    ast.Subscript: subscript,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded_from,
    ast.Slice: _slice,
}
