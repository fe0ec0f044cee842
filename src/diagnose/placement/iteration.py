"""What a value gives one by one, as a loop over it takes it."""

from __future__ import annotations

import ast

from diagnose.model import TorchNames
from diagnose.placement.assignments import KEY, element, parts
from diagnose.placement.lattice import any_of
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.modules import layer_of
from diagnose.placement.records import row
from diagnose.placement.tensors import Module, Table
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Function, Number, Object, Unknown, Value


def iterated(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> Value:
    """A value as what a loop can run through: of an object what its methods give, of a dict its keys."""
    match value:
        case Table():
            return Items([Const(key) for key in value.items], Unknown(KEY) if value.more else None)
        case Object() if (found := row(value)) is not None:
            return found
        case Object():
            return _by_methods(machine, value, node, frame)
        case Module() if (layer := layer_of(value)) is not None:
            return Items([], layer)
    return parts(value)


def _by_methods(machine: Machine, value: Object, node: ast.AST, frame: Frame) -> Value:
    found = special(machine, value, "__iter__", node, frame) or value
    if isinstance(found, Object):
        item = special(machine, found, "__next__", node, frame)
        item = item or special(machine, found, "__getitem__", node, frame, Number())
        return Items([], item) if item is not None else found
    return iterated(machine, found, node, frame)


def special(
    machine: Machine, value: Value, name: str, node: ast.AST, frame: Frame, *given: Value
) -> Value | None:
    """What a special method of a user's object gives, such as ``__enter__``; None where it has none."""
    made = value.made if isinstance(value, Object) else None
    method = made.find(name) if made is not None else None
    if not isinstance(method, Function):
        return None
    listed = [Given(ast.Name(name), one) for one in given]
    return machine.invoke(machine, method.bound(value), Arguments(listed), node, frame)


def any_item(torch: TorchNames, items: Value) -> Value:
    """What a loop binds that is not run item by item: of the keys of a dict any one."""
    rows = items.items if isinstance(items, Items) and items.more is None else []
    if len(rows) > 1 and all(map(_is_text, rows)):
        return Unknown(KEY)
    pairs = [one.items for one in rows if isinstance(one, Items) and len(one.items) == 2]
    if len(pairs) == len(rows) > 1 and all(_is_text(key) for key, _ in pairs):
        return Items([Unknown(KEY), any_of(Items([value for _, value in pairs]))])
    return element(torch, items)


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)
