"""Lists, dicts, and what a subscript takes out of a value."""

from __future__ import annotations

import ast
from typing import Any

from diagnose.model import TorchNames
from diagnose.placement.machine import Arguments, Given, Machine, Meets, joined
from diagnose.placement.storing import element, one_dimension
from diagnose.placement.tensors import WIDEST, Batch, Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    External,
    Frame,
    Function,
    Loader,
    Object,
    Unknown,
    Value,
)

#: Items of a literal that are looked at: what is longer is data.
LONGEST = 256


def listed(machine: Machine, node: Any, frame: Frame) -> Value:
    """A list, tuple or set."""
    items: list[Value] = []
    more: Value | None = None
    for each in node.elts[:LONGEST]:
        if isinstance(each, ast.Starred):
            value = machine.evaluate(machine, each.value, frame)
            if isinstance(value, Items) and value.more is None:
                items += value.items[:WIDEST]
            else:
                more = element(machine.torch, value)
        else:
            items.append(machine.evaluate(machine, each, frame))
    machine.spend(len(items) // 8)
    if len(items) > LONGEST or len(node.elts) > LONGEST:
        return Items(items[:LONGEST], Unknown())
    return Items(items, more)


def table(machine: Machine, node: Any, frame: Frame) -> Value:
    """A dict."""
    found = Table({})
    for key, item in zip(node.keys[:LONGEST], node.values[:LONGEST], strict=True):
        value = machine.evaluate(machine, item, frame)
        if key is None:
            if isinstance(value, Table):
                found.items |= value.items
                found.more = value.more or found.more
            else:
                found.more = element(machine.torch, value)
            continue
        name = machine.evaluate(machine, key, frame)
        if isinstance(name, Const) and isinstance(name.value, str | int):
            found.items[name.value] = value
        else:
            found.more = value
    if len(node.keys) > LONGEST:
        found.more = Unknown()
    machine.spend(len(found.items) // 8)
    return found


def subscript(machine: Machine, node: Any, frame: Frame) -> Value:
    """What a subscript takes out of a value."""
    owner = machine.evaluate(machine, node.value, frame)
    inside = node.slice
    if isinstance(owner, Tensor):
        indices = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        for index in indices:
            value = machine.evaluate(machine, index, frame)
            if isinstance(value, Tensor | Unknown):
                by = value if isinstance(value, Tensor) else Tensor(None)
                sides = [Meets(node.value, owner, owner), Meets(index, value, by)]
                machine.meet("index", node, frame, sides)
        return owner.like(owner.device, scalar=_one_number(machine.torch, owner, inside))
    key = machine.evaluate(machine, inside, frame)
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
        case Module() if isinstance(inside, ast.Slice):
            part = Module(owner.kind, owner.device)
            part.weights, part.steps, part.frame = owner.weights, owner.steps, owner.frame
            part.children = dict(owner.children)
            return part
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
            method = owner.made.find("__getitem__") if owner.made is not None else None
            if isinstance(method, Function):
                given = Arguments([Given(inside, key)])
                return machine.invoke(machine, method.bound(owner), given, node, frame)
    return Unknown()


def _adds(index: ast.expr) -> bool:
    """Whether an index is ``None`` or ``...``."""
    return isinstance(index, ast.Constant) and not isinstance(index.value, int)


def _one_number(torch: TorchNames, owner: Tensor, inside: ast.expr) -> bool | None:
    """Whether an index takes one number out of a tensor; None where it leaves that as it was."""
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if any(isinstance(each, ast.Slice) or _adds(each) for each in parts):
        return False
    one = isinstance(inside, ast.Constant | ast.Name | ast.Attribute | ast.UnaryOp | ast.BinOp)
    return True if one and one_dimension(torch, owner) else None


def _any(owner: Items | Table) -> Value:
    """Some item of a container."""
    found: Value | None = None
    for item in list(owner.every())[:8]:
        found = item if found is None else joined(found, item)
    return found if found is not None else Unknown()
