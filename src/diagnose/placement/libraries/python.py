"""Python's own functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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


#: They run through what they are given first, but for the function that these are given.
_RUNNING = frozenset(
    [
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
    ]
)
_MAPPING = ("map", "filter")
#: They need be given nothing.
_BARE = ("super", "list", "tuple", "set")


def builtin(call: CallSite) -> Value:
    """What a function of Python's own gives."""
    values = [parts(one.value) for one in call.given.listed]
    if call.last in _RUNNING:
        keep = 0 if call.last in _MAPPING else -1
        values = [
            value if n == keep else iterated(call.machine, value, call.node, call.frame)
            for n, value in enumerate(values)
        ]
    run = _FUNCTIONS.get(call.last) if values or call.last in _BARE else None
    return run(call, values) if run is not None else Unknown()


def _range(call: CallSite, values: Sequence[Value]) -> Items:
    """The numbers of a range, where few."""
    bounds = [one.value for one in values if isinstance(one, Const) and isinstance(one.value, int)]
    known = 0 < len(bounds) == len(values) <= 3 and bounds[2:] != [0]
    numbers = range(*bounds) if known else ()
    if 0 < len(numbers) <= _UNROLLED:
        return Items([Const(number) for number in numbers])
    return Items([], Number())


def _enumerate(call: CallSite, values: Sequence[Value]) -> Value:
    first = values[0]
    if isinstance(first, Items) and _are_counted(first):
        return Items([Items([Const(n), item]) for n, item in enumerate(first.items)])
    return Items([], Items([Number(), element(call.machine.torch, first)]))


def _zip(call: CallSite, values: Sequence[Value]) -> Value:
    known = [one.items for one in values if isinstance(one, Items) and one.more is None]
    if len(known) == len(values):
        return Items([Items(list(row)) for row in zip(*known, strict=False)])
    return Items([], Items([element(call.machine.torch, value) for value in values]))


def _row(call: CallSite, values: Sequence[Value], kind: str) -> Items:
    first = values[0] if values else Items([])
    if not isinstance(first, Items):
        return Items([], element(call.machine.torch, first), kind)
    found = Items(list(first.items), first.more, kind)
    found.grows = first.grows
    return found


def _sorted(call: CallSite, values: Sequence[Value]) -> Value:
    found = _row(call, values, "list")
    if call.given.named and len(found.items) > 1:
        return Items([], Unknown(), "list")  # by a key: in which order, only a run tells
    return found


def _reversed(call: CallSite, values: Sequence[Value]) -> Value:
    found = _row(call, values, "")
    found.items = found.items[::-1]
    return found


def _next(call: CallSite, values: Sequence[Value]) -> Value:
    if isinstance(values[0], Loader):
        drawn(call.machine, values[0], call.node, call.frame)
    return element(call.machine.torch, values[0])


def _sum(call: CallSite, values: Sequence[Value]) -> Value:
    if isinstance(values[0], Items):
        _join(call)
    inner = element(call.machine.torch, values[0])
    return inner.like(inner.device) if isinstance(inner, Tensor) else Unknown()


def _join(call: CallSite) -> list[Meets]:
    """The tensors that a function compares or adds, where there are several: they meet."""
    met = operands(call.given)
    if len(met) > 1:
        call.meet(ConstraintKind.JOIN, met)
    return met if len(met) > 1 else []


def _extreme(call: CallSite, values: Sequence[Value]) -> Value:
    """The largest or smallest: of tensors, or of numbers that are all known."""
    first = values[0]
    if len(values) > 1 and (met := _join(call)):
        known = leading([one.tensor for one in met])
        return known.computed(known.device, scalar=known.scalar)
    if isinstance(first, Items) and (met := _join(call)):
        return met[0].tensor.computed(met[0].tensor.device)
    if isinstance(first, Tensor):
        return first.like(first.device)
    row = first if isinstance(first, Items) and len(values) == 1 else None
    every = row.items if row is not None else values
    told = [
        one.value for one in every if isinstance(one, Const) and isinstance(one.value, int | float)
    ]
    if told and len(told) == len(every) and not (row and (row.more is not None or row.grows)):
        return Const(max(told) if call.last == "max" else min(told))
    return Number() if all(isinstance(v, Const | Number) for v in values) else Unknown()


def _divmod(call: CallSite, values: Sequence[Value]) -> Value:
    """Quotient and rest of whole numbers that are known."""
    match [one.value for one in values if isinstance(one, Const)]:
        case [int(number), int(by)] if by and len(values) == 2:
            return Items([Const(number // by), Const(number % by)], kind="tuple")
    return Unknown()


def _are_counted(rows: Items) -> bool:
    """Whether all items of a list are known, and few."""
    return rows.more is None and len(rows.items) <= _UNROLLED and not rows.grows


def _isinstance(call: CallSite, values: Sequence[Value]) -> Value:
    told = (
        is_instance(call.given.listed[0].value, call.given.listed[1].value)
        if len(values) > 1
        else None
    )
    return Unknown() if told is None else Const(told)


def _hasattr(call: CallSite, values: Sequence[Value]) -> Value:
    name = call.given.text("", 1)
    told = has_attribute(call.machine, call.given.listed[0].value, name) if name else None
    return Unknown() if told is None else Const(told)


def _int(call: CallSite, values: Sequence[Value]) -> Value:
    found = _float(call, values)
    first = values[0]
    if isinstance(found, Const):
        return Const(int(found.value)) if isinstance(found.value, float) else found
    if isinstance(first, Unknown | Number):
        number = Number(first.word)
        number.steps = call.step(EventKind.MADE)
        return number
    return found


def _float(call: CallSite, values: Sequence[Value]) -> Value:
    told = values[0].value if isinstance(values[0], Const) else None
    if isinstance(told, str) and told.isdecimal() and len(told) < 9:
        told = int(told)
    small = isinstance(told, int | float) and abs(told) < 1e15
    return Const(float(told)) if small and isinstance(told, int | float) else Number()


def _len(call: CallSite, values: Sequence[Value]) -> Value:
    first = values[0]
    if isinstance(first, Items) and first.more is None and not first.grows:
        return Const(len(first.items)) if len(first.items) < WIDEST else Number()
    return Number()


def _abs(call: CallSite, values: Sequence[Value]) -> Value:
    first = values[0]
    return first.like(first.device) if isinstance(first, Tensor) else Number()


def _map(call: CallSite, values: Sequence[Value]) -> Value:
    """A function called with the items of what it is mapped over."""
    rows = [
        one._replace(value=value) for one, value in zip(call.given.listed, values, strict=False)
    ][1:]
    if not rows:
        return Unknown()

    def of(items: Sequence[Value]) -> Value:
        listed = [one._replace(value=item) for one, item in zip(rows, items, strict=False)]
        return call.run(values[0], Arguments(listed))

    known = [one.value.items for one in rows if isinstance(one.value, Items) and not one.value.more]
    if len(known) == len(rows) and 0 < len(known[0]) <= _UNROLLED:
        return Items([of(items) for items in zip(*known, strict=False)])
    return Items([], of([element(call.machine.torch, one.value) for one in rows]))


def _filter(call: CallSite, values: Sequence[Value]) -> Value:
    more = element(call.machine.torch, values[1]) if len(values) > 1 else None
    return Items([], more) if len(values) > 1 else Unknown()


def _getattr(call: CallSite, values: Sequence[Value]) -> Value:
    """What an attribute holds, or what it is told instead where there is none."""
    name, given = call.given.text("", 1), call.given.listed
    if name is None:
        return Unknown()
    if len(given) > 2 and has_attribute(call.machine, given[0].value, name) is False:
        return given[2].value
    return call.attribute(given[0].value, name)


def _setattr(call: CallSite, values: Sequence[Value]) -> Value:
    if len(values) < 3:
        return Unknown()
    name, owner, value = call.given.text("", 1), call.first, call.given.listed[2].value
    if isinstance(owner, Module):
        modules.put(call.machine, owner, name or "?", value, call.node, call.frame)
    elif isinstance(owner, Object) and name is not None:
        owner.attributes[name] = values[2]
    return Const(None)


def _type(call: CallSite, values: Sequence[Value]) -> Value:
    return (type_of(values[0]) if len(values) == 1 else None) or Unknown()


def _str(call: CallSite, values: Sequence[Value]) -> Value:
    first = values[0]
    if not isinstance(first, Const):
        return first
    return composed(call.machine, [first], call.node, call.frame)


def _super(call: CallSite, values: Sequence[Value]) -> Value:
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


def _number(call: CallSite, values: Sequence[Value]) -> Value:
    return Number()


_FUNCTIONS: Mapping[str, Callable[[CallSite, Sequence[Value]], Value]] = {
    "len": _len,
    "int": _int,
    "float": _float,
    "abs": _abs,
    "round": _abs,
    **dict.fromkeys(("id", "ord", "hash"), _number),
    "isinstance": _isinstance,
    "hasattr": _hasattr,
    "divmod": _divmod,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "list": lambda call, values: _row(call, values, "list"),
    "tuple": lambda call, values: _row(call, values, "tuple"),
    "set": lambda call, values: _row(call, values, "set"),
    "sorted": _sorted,
    "reversed": _reversed,
    "iter": lambda call, values: values[0],
    "next": _next,
    "map": _map,
    "filter": _filter,
    "sum": _sum,
    "max": _extreme,
    "min": _extreme,
    "getattr": _getattr,
    "setattr": _setattr,
    "super": _super,
    "vars": lambda call, values: call.attribute(values[0], "__dict__"),
    "type": _type,
    "str": _str,
}
