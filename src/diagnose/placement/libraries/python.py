"""Python's own functions."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.kinds import ConstraintKind, EventKind
from diagnose.placement import modules
from diagnose.placement.assignments import element, parts
from diagnose.placement.iteration import iterated
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.datasets import drawn
from diagnose.placement.machine import Arguments, Meets, operands
from diagnose.placement.strings import composed
from diagnose.placement.tensors import WIDEST, Module, Tensor, leading
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.type_narrowing import has_attribute, is_instance, type_of
from diagnose.placement.values import (
    Class,
    Const,
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


#: They run through what they are given first, but for a function that these are given.
_RUNNING = frozenset(
    {"enumerate", "zip", "iter", "next", "map", "filter", "sum", "sorted", "reversed"}
)
_ROWS = ("list", "tuple", "set")


def builtin(call: CallSite) -> Value:
    """What a function of Python's own gives."""
    machine, given, torch = call.machine, call.given, call.machine.torch
    call = call._replace(name=call.effect.of or call.name)
    values = [parts(one.value) for one in given.listed]
    if call.last in _RUNNING or call.last in _ROWS:
        keep = values[:1] if call.last in ("map", "filter") else []
        rest = values[len(keep) :]
        values = [*keep, *(iterated(machine, each, call.node, call.frame) for each in rest)]
    first = values[0] if values else None
    match call.last:
        case "len" | "int" | "float" | "abs" | "round" | "id" | "ord" | "hash":
            return _number(call, first)
        case "isinstance" if len(values) > 1:
            return _told(is_instance(given.listed[0].value, given.listed[1].value))
        case "hasattr" if (name := given.text("", 1)) is not None:
            return _told(has_attribute(machine, given.listed[0].value, name))
        case "divmod" if (parted := _parted(values)) is not None:
            return parted
        case "range":
            return _range(values)
        case "enumerate" if isinstance(first, Items) and _are_counted(first):
            return Items([Items([Const(n), item]) for n, item in enumerate(first.items)])
        case "enumerate":
            return Items([], Items([Number(), element(torch, first) if first else Unknown()]))
        case "zip":
            if values and all(isinstance(v, Items) and v.more is None for v in values):
                rows = zip(*(v.items for v in values if isinstance(v, Items)), strict=False)
                return Items([Items(list(row)) for row in rows])
            return Items([], Items([element(torch, value) for value in values]))
        case "sorted" if isinstance(first, Items) and given.named and len(first.items) > 1:
            return Items([], Unknown(), "list")  # by a key: in which order, only a run tells
        case "list" | "tuple" | "set" | "sorted" | "reversed":
            kind = {"sorted": "list", "reversed": ""}.get(call.last, call.last)
            if not isinstance(first, Items):
                return Items([], element(torch, first) if first is not None else None, kind)
            order = -1 if call.last == "reversed" else 1
            listed = Items(first.items[::order], first.more, kind)
            listed.grows = first.grows
            return listed
        case "iter":
            return first or Unknown()
        case "next" if first is not None:
            if isinstance(first, Loader):
                drawn(machine, first, call.node, call.frame)
            return element(torch, first)
        case "map" if len(values) > 1:
            return _mapped(call, values)
        case "filter" if len(values) > 1:
            return Items([], element(torch, values[1]))
        case "sum":
            if isinstance(first, Items):
                _join(call)
            inner = element(torch, first) if first is not None else Unknown()
            return inner.like(inner.device) if isinstance(inner, Tensor) else Unknown()
        case "max" | "min":
            return _extreme(call, values)
        case "getattr" if len(values) > 1:
            return _got(call)
        case "setattr" if len(values) > 2:
            said, owner, value = given.text("", 1), call.first, given.listed[2].value
            if isinstance(owner, Module):
                modules.put(machine, owner, said or "?", value, call.node, call.frame)
            elif isinstance(owner, Object) and said is not None:
                owner.attributes[said] = values[2]
            return Const(None)
        case "super":
            return _super(call)
        case "vars" if first is not None:
            return call.attribute(first, "__dict__")
        case "type" if first is not None and len(values) == 1:
            return type_of(first) or Unknown()
        case "str" if first is not None:
            text = isinstance(first, Const)
            return composed(machine, [first], call.node, call.frame) if text else first
    return Unknown()


def _told(answer: bool | None) -> Value:
    return Unknown() if answer is None else Const(answer)


def _join(call: CallSite) -> list[Meets]:
    """The tensors that a function compares or adds, where there are several: they meet."""
    met = operands(call.given)
    if len(met) > 1:
        call.meet(ConstraintKind.JOIN, met)
    return met if len(met) > 1 else []


def _extreme(call: CallSite, values: Sequence[Value]) -> Value:
    """The largest or smallest: of tensors, or of numbers that are all known."""
    first = values[0] if values else None
    if len(values) > 1 and (met := _join(call)):
        known = leading([one.tensor for one in met])
        return known.computed(known.device, scalar=known.scalar)
    if isinstance(first, Items) and (met := _join(call)):
        return met[0].tensor.computed(met[0].tensor.device)
    if isinstance(first, Tensor):
        return first.like(first.device)
    row = first if isinstance(first, Items) and len(values) == 1 else None
    every = row.items if row is not None else values
    constants = [one.value for one in every if isinstance(one, Const)]
    told = [one for one in constants if isinstance(one, int | float)]
    if told and len(told) == len(every) and not (row and (row.more is not None or row.grows)):
        return Const(max(told) if call.last == "max" else min(told))
    numbers = values and all(isinstance(v, Const | Number) for v in values)
    return Number() if numbers else Unknown()


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


def _number(call: CallSite, first: Value | None) -> Value:
    told = first.value if isinstance(first, Const) else None
    match call.last, first:
        case "len", Items(more=None, grows=False, items=items):
            return Const(len(items)) if len(items) < WIDEST else Number()
        case "abs" | "round", Tensor() as tensor:
            return tensor.like(tensor.device)
        case "int" | "float", Const():
            if isinstance(told, str) and told.isdecimal() and len(told) < 9:
                told = int(told)
            if isinstance(told, int | float) and abs(told) < 1e15:
                return Const(int(told) if call.last == "int" else float(told))
        case "int", Unknown() | Number():
            found = Number(first.word)
            found.steps = call.step(EventKind.MADE)
            return found
    return Number()


def _mapped(call: CallSite, values: list[Value]) -> Value:
    """A function called with the items of what it is mapped over."""
    rows = [one._replace(value=each) for one, each in zip(call.given.listed, values, strict=False)]
    rows = rows[1:]

    def of(items: Sequence[Value]) -> Value:
        listed = [one._replace(value=item) for one, item in zip(rows, items, strict=False)]
        return call.run(values[0], Arguments(listed))

    known = [one.value.items for one in rows if isinstance(one.value, Items) and not one.value.more]
    if len(known) == len(rows) and 0 < len(known[0]) <= _UNROLLED:
        return Items([of(items) for items in zip(*known, strict=False)])
    return Items([], of([element(call.machine.torch, one.value) for one in rows]))


def _got(call: CallSite) -> Value:
    """``getattr``: what it is told instead where there is no such attribute."""
    name, given = call.given.text("", 1), call.given.listed
    if name is None:
        return Unknown()
    if len(given) > 2 and has_attribute(call.machine, given[0].value, name) is False:
        return given[2].value
    return call.attribute(given[0].value, name)


def _super(call: CallSite) -> Value:
    """``super()``: the members of the bases, bound to the object."""
    found, frame, torch = Object("super"), call.frame, call.machine.torch
    owner = frame.owner
    if isinstance(owner, Class) and frame.this is not None:
        for base in owner.bases:
            for name in {name for one in base.line() for name in one.members}:
                member = base.find(name)
                if isinstance(member, Function) and name not in found.attributes:
                    found.attributes[name] = member.bound(frame.this)
    if isinstance(frame.this, Module):
        own = torch.module_methods | torch.other_module_methods
        for name in (own | {"__init__"}) - set(found.attributes):
            found.attributes[name] = Method(frame.this, name)
    return found
