"""Python's own functions."""

from __future__ import annotations

import ast

from diagnose.placement import modules
from diagnose.placement.datasets import drawn
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.storing import element, parts
from diagnose.placement.tensors import WIDEST, Module, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Class,
    Const,
    External,
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


def builtin(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """What a function of Python's own gives."""
    values = [parts(one.value) for one in given.listed]
    first = values[0] if values else None
    match last:
        case (
            "len"
            | "int"
            | "float"
            | "bool"
            | "abs"
            | "round"
            | "id"
            | "ord"
            | "hash"
            | "isinstance"
            | "hasattr"
            | "callable"
            | "issubclass"
            | "any"
            | "all"
        ):
            if (
                last in ("int", "float")
                and isinstance(first, Const)
                and isinstance(first.value, int | float)
            ):
                return (
                    Const(int(first.value) if last == "int" else float(first.value))
                    if abs(first.value) < 1e15
                    else Number()
                )
            if last == "len" and isinstance(first, Items) and first.more is None:
                return Const(len(first.items)) if len(first.items) < WIDEST else Number()
            if last in ("abs", "round") and isinstance(first, Tensor):
                return first.like(first.device)
            if last == "isinstance" and len(values) > 1 and isinstance(first, Module):
                return _is_layer(first, values[1])
            if last in ("isinstance", "hasattr", "callable", "issubclass", "any", "all", "bool"):
                return Unknown()
            if last == "int" and isinstance(first, Unknown | Number):
                found_ = Number(first.word)
                found_.steps = machine.step("made", node, frame)
                return found_
            return Number()
        case "range":
            end = first.value if isinstance(first, Const) and len(values) == 1 else None
            if isinstance(end, int) and 0 < end <= _UNROLLED:
                return Items([Const(number) for number in range(end)])
            return Items([], Number())
        case "enumerate":
            if isinstance(first, Items) and first.more is None and len(first.items) <= _UNROLLED:
                return Items([Items([Const(n), item]) for n, item in enumerate(first.items)])
            return Items(
                [], Items([Number(), element(machine.torch, first) if first else Unknown()])
            )
        case "zip":
            if values and all(isinstance(v, Items) and v.more is None for v in values):
                rows = zip(*(v.items for v in values if isinstance(v, Items)), strict=False)
                return Items([Items(list(row)) for row in rows])
            return Items([], Items([element(machine.torch, value) for value in values]))
        case "list" | "tuple" | "set" | "sorted" | "reversed":
            if isinstance(first, Items):
                return Items(list(first.items), first.more)
            return Items([], element(machine.torch, first)) if first is not None else Items([])
        case "iter":
            return first or Unknown()
        case "next":
            if isinstance(first, Loader):
                drawn(machine, first, node, frame)
            return element(machine.torch, first) if first is not None else Unknown()
        case "dict":
            found = Table({key: one.value for key, one in given.named.items() if key != "**"})
            if isinstance(first, Table):
                found.items = dict(first.items) | found.items
                found.more = first.more
            elif isinstance(first, Items):
                pair = element(machine.torch, first)
                found.more = (
                    pair.items[1] if isinstance(pair, Items) and len(pair.items) > 1 else Unknown()
                )
            return found
        case "map" if len(values) > 1:
            given_ = Arguments([given.listed[1]._replace(value=element(machine.torch, values[1]))])
            return Items([], machine.invoke(machine, values[0], given_, node, frame))
        case "sum":
            inner = element(machine.torch, first) if first is not None else Unknown()
            return inner.like(inner.device) if isinstance(inner, Tensor) else Unknown()
        case "max" | "min":
            if isinstance(first, Tensor):
                return first.like(first.device)
            return (
                Number()
                if values and all(isinstance(v, Const | Number) for v in values)
                else Unknown()
            )
        case "getattr" if len(values) > 1:
            name = given.text("", 1)
            if name is not None and first is not None:
                return machine.attribute(machine, first, name, node, frame)
            return Unknown()
        case "setattr" if len(values) > 2:
            name = given.text("", 1)
            if isinstance(first, Module):
                modules.put(machine, first, name or "?", values[2], node, frame)
            elif isinstance(first, Object) and name is not None:
                first.attributes[name] = values[2]
            return Const(None)
        case "super":
            return _super(machine, frame)
        case "str":
            return first if isinstance(first, Const) and isinstance(first.value, str) else Unknown()
    return Unknown()


def _is_layer(module: Module, classes: Value) -> Value:
    """Whether a layer of torch is of one of torch's classes; unknown for others."""
    names = [
        one.dotted
        for one in (classes.items if isinstance(classes, Items) else [classes])
        if isinstance(one, External)
    ]
    told = module.made is None and module.kind.isidentifier() and names
    if not told or not all(name.startswith("torch.nn.") for name in names):
        return Unknown()
    return Const(module.kind in {name.rpartition(".")[2] for name in names})


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
        for name in own - set(found.attributes):
            found.attributes[name] = Method(frame.this, name)
    return found
