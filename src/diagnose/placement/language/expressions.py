"""Expressions of the user's files, evaluated to abstract values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from diagnose.kinds import DeviceType, EventKind
from diagnose.placement.assignments import element, store
from diagnose.placement.devices import written
from diagnose.placement.iteration import iterated
from diagnose.placement.language.branches import Ways
from diagnose.placement.language.comprehensions import comprehended
from diagnose.placement.language.conditions import truth
from diagnose.placement.language.contexts import yielded
from diagnose.placement.language.displays import listed, subscript, table
from diagnose.placement.language.operators import binary, compare, unary
from diagnose.placement.lattice import joined
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.model import Device
from diagnose.placement.strings import composed
from diagnose.placement.tensors import WIDEST, Batch, Table, Tensor
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
    if test is not None:
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
        if gpu:
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
