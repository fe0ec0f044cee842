"""Python's own functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.kinds import ConstraintKind, EventKind
from diagnose.placement import modules
from diagnose.placement.assignments import element, parts
from diagnose.placement.iteration import iterated
from diagnose.placement.libraries.datasets import drawn
from diagnose.placement.machine import Arguments, Machine, operands
from diagnose.placement.strings import composed
from diagnose.placement.tensors import WIDEST, Module, Tensor, leading
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.type_narrowing import has_attribute, is_instance, type_of
from diagnose.placement.values import (
    Class,
    Const,
    Frame,
    Function,
    Loader,
    Method,
    Number,
    Object,
    Unknown,
    Value,
)

#: A range of at most so many numbers is followed number by number.
_UNROLLED = 8


#: They give a number, or whether something holds.
_NUMBERS = frozenset({"len", "int", "float", "abs", "round", "id", "ord", "hash"})
_HOLDS = frozenset({"isinstance", "hasattr", "callable", "issubclass", "any", "all", "bool"})
#: They run through what they are given first.
_RUNNING = frozenset(
    {
        "enumerate",
        "zip",
        "list",
        "tuple",
        "set",
        "sorted",
        "reversed",
        "iter",
        "next",
        "map",
        "filter",
        "sum",
    }
)


def builtin(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """What a function of Python's own gives."""
    if last in _HOLDS:
        return _holds(machine, last, [one.value for one in given.listed], given)
    values = [parts(one.value) for one in given.listed]
    if last in _RUNNING:
        every = enumerate(values)
        keep = 0 if last in ("map", "filter") else -1  # a function
        values = [v if n == keep else iterated(machine, v, node, frame) for n, v in every]
    first = values[0] if values else None
    torch = machine.torch
    if last in _NUMBERS:
        return _number(machine, last, first, node, frame)
    match last:
        case "divmod" if (parted := _parted(values)) is not None:
            return parted
        case "range":
            return _range(values)
        case "enumerate":
            if isinstance(first, Items) and _are_counted(first):
                return Items([Items([Const(n), item]) for n, item in enumerate(first.items)])
            return Items([], Items([Number(), element(torch, first) if first else Unknown()]))
        case "zip":
            if values and all(isinstance(v, Items) and v.more is None for v in values):
                rows = zip(*(v.items for v in values if isinstance(v, Items)), strict=False)
                return Items([Items(list(row)) for row in rows])
            return Items([], Items([element(torch, value) for value in values]))
        case "list" | "tuple" | "set" | "sorted" | "reversed":
            kind = {"sorted": "list", "reversed": ""}.get(last, last)
            if isinstance(first, Items):
                items = list(first.items)
                if last == "sorted" and given.named and len(items) > 1:
                    return Items([], Unknown(), kind)  # by a key: in which order, only a run tells
                listed = Items(items[::-1] if last == "reversed" else items, first.more, kind)
                listed.grows = first.grows
                return listed
            return Items([], element(torch, first) if first is not None else None, kind)
        case "iter":
            return first or Unknown()
        case "next":
            if isinstance(first, Loader):
                drawn(machine, first, node, frame)
            return element(torch, first) if first is not None else Unknown()
        case "map" if len(values) > 1:
            return _mapped(machine, values, given, node, frame)
        case "filter" if len(values) > 1:
            return Items([], element(torch, values[1]))
        case "sum":
            if isinstance(first, Items) and len(met := operands(given)) > 1:
                machine.meet(ConstraintKind.JOIN, node, frame, met)
            inner = element(torch, first) if first is not None else Unknown()
            return inner.like(inner.device) if isinstance(inner, Tensor) else Unknown()
        case "max" | "min":
            if len(values) > 1 and len(met := operands(given)) > 1:
                machine.meet(ConstraintKind.JOIN, node, frame, met)
                known = leading([one.tensor for one in met])
                return known.computed(known.device, scalar=known.scalar)
            if isinstance(first, Items) and len(met := operands(given)) > 1:
                machine.meet(ConstraintKind.JOIN, node, frame, met)
                return met[0].tensor.computed(met[0].tensor.device)
            if isinstance(first, Tensor):
                return first.like(first.device)
            if (found := _extreme(last, values)) is not None:
                return found
            numbers = values and all(isinstance(v, Const | Number) for v in values)
            return Number() if numbers else Unknown()
        case "getattr" if len(values) > 1 and first is not None:
            return _got(machine, given.listed[0].value, given, node, frame)
        case "setattr" if len(values) > 2:
            name, owner = given.text("", 1), given.listed[0].value
            if isinstance(owner, Module):
                modules.put(machine, owner, name or "?", given.listed[2].value, node, frame)
            elif isinstance(owner, Object) and name is not None:
                owner.attributes[name] = values[2]
            return Const(None)
        case "super":
            return _super(machine, frame)
        case "vars" if first is not None:
            return machine.attribute(machine, first, "__dict__", node, frame)
        case "type" if first is not None and len(values) == 1:
            return type_of(first) or Unknown()
        case "str" if first is not None:
            return composed(machine, [first], node, frame) if isinstance(first, Const) else first
    return Unknown()


def _extreme(last: str, values: Sequence[Value]) -> Const | None:
    """The largest or smallest of numbers that are all known; None for other values."""
    first = values[0] if len(values) == 1 else None
    if isinstance(first, Items) and (first.more is not None or first.grows):
        return None
    every = first.items if isinstance(first, Items) else values
    numbers = [one.value for one in every if isinstance(one, Const)]
    told = [one for one in numbers if isinstance(one, int | float)]
    if not told or len(told) < len(every):
        return None
    return Const(max(told) if last == "max" else min(told))


def _parted(values: Sequence[Value]) -> Items | None:
    """What ``divmod`` gives of whole numbers that are known; None for other values."""
    told = [one.value for one in values if isinstance(one, Const)]
    match told:
        case [int(number), int(by)] if by and len(values) == len(told):
            return Items([Const(number // by), Const(number % by)], kind="tuple")
    return None


def _are_counted(rows: Items) -> bool:
    """Whether all items of a list are known, and few."""
    return rows.more is None and len(rows.items) <= _UNROLLED and not rows.grows


def _range(values: Sequence[Value]) -> Items:
    """The numbers of a range, where few."""
    bounds = [one.value for one in values if isinstance(one, Const) and isinstance(one.value, int)]
    known = 0 < len(bounds) == len(values) <= 3 and bounds[2:] != [0]
    numbers = range(*bounds) if known else ()
    if 0 < len(numbers) <= _UNROLLED:
        return Items([Const(number) for number in numbers])
    return Items([], Number())


def _holds(machine: Machine, last: str, values: list[Value], given: Arguments) -> Value:
    """What a program asks, where the answer is known."""
    told: bool | None = None
    if last == "isinstance" and len(values) > 1:
        told = is_instance(values[0], values[1])
    elif last == "hasattr" and len(values) > 1 and (name := given.text("", 1)) is not None:
        told = has_attribute(machine, values[0], name)
    return Unknown() if told is None else Const(told)


def _number(machine: Machine, last: str, first: Value | None, node: ast.AST, frame: Frame) -> Value:
    told = first.value if isinstance(first, Const) else None
    if last in ("int", "float") and isinstance(told, str) and told.isdecimal() and len(told) < 9:
        told = int(told)
    if last in ("int", "float") and isinstance(told, int | float):
        made = int(told) if last == "int" and abs(told) < 1e15 else float(told)
        return Const(made) if abs(told) < 1e15 else Number()
    if last == "len" and isinstance(first, Items) and first.more is None and not first.grows:
        return Const(len(first.items)) if len(first.items) < WIDEST else Number()
    if last in ("abs", "round") and isinstance(first, Tensor):
        return first.like(first.device)
    if last == "int" and isinstance(first, Unknown | Number):
        found = Number(first.word)
        found.steps = machine.step(EventKind.MADE, node, frame)
        return found
    return Number()


def _mapped(
    machine: Machine, values: list[Value], given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A function called with the items of what it is mapped over."""
    rows = [one._replace(value=value) for one, value in zip(given.listed, values, strict=False)][1:]

    def of(items: list[Value]) -> Value:
        listed = [one._replace(value=item) for one, item in zip(rows, items, strict=False)]
        return machine.invoke(machine, values[0], Arguments(listed), node, frame)

    known = [one.value.items for one in rows if isinstance(one.value, Items) and not one.value.more]
    if len(known) == len(rows) and 0 < len(known[0]) <= _UNROLLED:
        return Items([of(list(items)) for items in zip(*known, strict=False)])
    return Items([], of([element(machine.torch, one.value) for one in rows]))


def _got(machine: Machine, owner: Value, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """``getattr``: what it is told instead where there is no such attribute."""
    name = given.text("", 1)
    if name is None:
        return Unknown()
    if len(given.listed) > 2 and has_attribute(machine, owner, name) is False:
        return given.listed[2].value
    return machine.attribute(machine, owner, name, node, frame)


def _super(machine: Machine, frame: Frame) -> Value:
    """``super()``: the members of the bases, bound to the object."""
    found = Object("super")
    owner = frame.owner
    if isinstance(owner, Class) and frame.this is not None:
        for base in owner.bases:
            for name in {name for one in base.line() for name in one.members}:
                member = base.find(name)
                if isinstance(member, Function) and name not in found.attributes:
                    found.attributes[name] = member.bound(frame.this)
    if isinstance(frame.this, Module):
        own = machine.torch.module_methods | machine.torch.other_module_methods
        for name in (own | {"__init__"}) - set(found.attributes):
            found.attributes[name] = Method(frame.this, name)
    return found
