"""Python's own functions and its standard library: what hands values on, and the options that a program is
run with, as far as its parser or the variables of its environment tell.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import islice

from diagnose.kinds import ConstraintKind, EventKind, OptionState, Origin
from diagnose.placement import modules
from diagnose.placement.assignments import as_row, element, iterated, parts
from diagnose.placement.devices import asks_for_gpu, named_so, written
from diagnose.placement.lattice import in_a_row, of_any_key
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.datasets import drawn
from diagnose.placement.machine import Arguments, Machine, Meets, Partial, operands
from diagnose.placement.python_types import (
    composed,
    described,
    field,
    has_attribute,
    is_instance,
    replaced,
    tuple_class,
    type_of,
)
from diagnose.placement.tensors import WIDEST, Batch, Module, Table, Tensor, leading, tensors_in
from diagnose.placement.tensors import Sequence as Items
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
    call = call._replace(name=call.effect.of or call.name)
    values = [parts(one.value) for one in call.given.listed]
    if call.last in _RUNNING or call.last in _ROWS:
        keep = values[:1] if call.last in ("map", "filter") else []
        rest = values[len(keep) :]
        values = [*keep, *(iterated(call.machine, one, call.node, call.frame) for one in rest)]
    least, gives = _BUILTINS.get(call.last, (0, None))
    found = gives(call, values) if gives is not None and len(values) >= least else None
    return found or Unknown()


def _has(call: CallSite, _: Sequence[Value]) -> Value | None:
    name = call.given.text("", 1)
    if name is None:
        return None
    return _told(has_attribute(call.machine, call.given.listed[0].value, name))


def _enumerated(call: CallSite, values: Sequence[Value]) -> Value:
    first = values[0] if values else None
    if isinstance(first, Items) and _are_counted(first):
        return Items([Items([Const(n), item]) for n, item in enumerate(first.items)])
    return Items([], Items([Number(), element(call.machine.torch, first) if first else Unknown()]))


def _zipped(call: CallSite, values: Sequence[Value]) -> Value:
    if values and all(isinstance(v, Items) and v.more is None for v in values):
        rows = zip(*(v.items for v in values if isinstance(v, Items)), strict=False)
        return Items([Items(list(row)) for row in rows])
    return Items([], Items([element(call.machine.torch, value) for value in values]))


def _row(call: CallSite, values: Sequence[Value]) -> Value:
    first = values[0] if values else None
    kind = {"sorted": "list", "reversed": ""}.get(call.last, call.last)
    if not isinstance(first, Items):
        return Items([], element(call.machine.torch, first) if first is not None else None, kind)
    order = -1 if call.last == "reversed" else 1
    listed = Items(first.items[::order], first.more, kind)
    listed.grows = first.grows
    return listed


def _sorted(call: CallSite, values: Sequence[Value]) -> Value:
    first = values[0] if values else None
    if isinstance(first, Items) and call.given.named and len(first.items) > 1:
        return Items([], Unknown(), "list")  # by a key: in which order, only a run tells
    return _row(call, values)


def _next(call: CallSite, values: Sequence[Value]) -> Value:
    if isinstance(values[0], Loader):
        drawn(call.machine, values[0], call.node, call.frame)
    return element(call.machine.torch, values[0])


def _sum(call: CallSite, values: Sequence[Value]) -> Value | None:
    if isinstance(values[0], Items):
        _join(call)
    inner = element(call.machine.torch, values[0])
    return inner.like(inner.device) if isinstance(inner, Tensor) else None


def _set(call: CallSite, values: Sequence[Value]) -> Value:
    said, owner, value = call.given.text("", 1), call.first, call.given.listed[2].value
    if isinstance(owner, Module):
        modules.put(call.machine, owner, said or "?", value, call.node, call.frame)
    elif isinstance(owner, Object) and said is not None:
        owner.attributes[said] = values[2]
    return Const(None)


def _text(call: CallSite, values: Sequence[Value]) -> Value:
    if isinstance(values[0], Const):
        return composed(call.machine, [values[0]], call.node, call.frame)
    return Unknown() if isinstance(values[0], Tensor | Batch) else values[0]


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


def namespace(call: CallSite) -> Object:
    """An object whose attributes are what it is given by name, or by a dict."""
    found = Object("namespace")
    if isinstance(call.first, Table):
        found.attributes |= {str(key): _nested(item) for key, item in call.first.items.items()}
    named = {name: _nested(one.value) for name, one in call.given.named.items() if name != "**"}
    found.attributes |= named
    return found


def _nested(value: Value) -> Value:
    if not isinstance(value, Table) or value.more is not None:
        return value
    found = Object("namespace")
    found.attributes = {str(key): item for key, item in value.items.items()}
    return found


def partial(call: CallSite) -> Value:
    """A function that some of its arguments are given already."""
    return Partial(call.first, call.given.rest()) if call.first is not None else Unknown()


def reduced(call: CallSite) -> Value:
    """A function called with two items of a list."""
    if call.first is None or len(call.given.listed) < 2:
        return Unknown()
    rows = call.given.listed[1]
    items = iterated(call.machine, rows.value, call.node, call.frame)
    one = rows._replace(value=element(call.machine.torch, items))
    return call.run(call.first, Arguments([one, one]))


def chained(call: CallSite) -> Value:
    """The items of several lists."""
    rows = (iterated(call.machine, one.value, call.node, call.frame) for one in call.given.listed)
    return in_a_row(as_row(call.machine.torch, row) for row in rows)


def _run_through(call: CallSite) -> Value:
    if call.first is None:
        return Unknown()
    return iterated(call.machine, call.first, call.node, call.frame)


def some_items(call: CallSite) -> Value:
    """Some of the items of a list."""
    return Items([], an_item(call))


def an_item(call: CallSite) -> Value:
    """One of the items of a list."""
    return element(call.machine.torch, _run_through(call))


def deque(call: CallSite) -> Value:
    """A list that grows at both ends."""
    items = _run_through(call)
    found = Items(list(items.items), items.more) if isinstance(items, Items) else Items([])
    found.grows = True
    return found


def default_dict(call: CallSite) -> Value:
    """A dict that makes what it lacks."""
    found = Table({})
    found.missing = call.first
    return found


def named_tuple(call: CallSite) -> Value:
    """The class of tuples with named fields."""
    said = call.given.get("field_names", 1) or call.given.get("fields", 1)
    name = call.given.text("typename", 0) or "Row"
    return tuple_class(name, said.value if said is not None else None, call.node, call.frame)


def record_field(call: CallSite) -> Value:
    """What a class of records says of a field."""
    return field(call.given)


def record_replaced(call: CallSite) -> Value:
    """A record with other values in some fields."""
    return replaced(call.first, call.given.rest()) if isinstance(call.first, Object) else Unknown()


def record_dict(call: CallSite) -> Value:
    """The fields of a record as a dict."""
    record = call.first
    return Table(dict(record.attributes.items())) if isinstance(record, Object) else Unknown()


def record_fields(call: CallSite) -> Value:
    """The fields of a record, or of a class of such."""
    return (described(call.first) if call.first is not None else None) or Unknown()


def is_record(call: CallSite) -> Value:
    """Whether something is a record, or a class of such."""
    match call.first:
        case (Object(made=Class()) | Class()) as record:
            return Const(described(record) is not None)
        case Tensor() | Items() | Table() | Batch() | Const() | Module():
            return Const(False)
    return Unknown()


def parsed_json(call: CallSite) -> Value:
    """What a text that stands in the code holds."""
    try:
        return _plain(json.loads(call.given.text("s", 0) or ""))
    except (ValueError, RecursionError):
        return Unknown()


def _plain(found: object) -> Value:
    match found:
        case dict():
            return Table({key: _plain(one) for key, one in islice(found.items(), WIDEST)})
        case list():
            return Items([_plain(one) for one in found[:WIDEST]])
    return Const(found)


def listed(call: CallSite) -> Value:
    """A list of what it is given."""
    return Items([one.value for one in call.given.listed])


def table(call: CallSite) -> Value:
    """A dict of what it is given by name, and of the dict or pairs before that."""
    found = Table({key: one.value for key, one in call.given.named.items() if key != "**"})
    first = call.first
    if isinstance(first, Table):
        found.items = dict(first.items) | found.items
        found.more = first.more
    elif isinstance(first, Batch) or (isinstance(first, Tensor) and first.maker == Origin.LOAD):
        return Batch(next(tensors_in(first)), mutable=True)
    elif isinstance(first, Items):
        for pair in (*first.items, *([first.more] if first.more is not None else ())):
            key, value = (
                pair.items if isinstance(pair, Items) and len(pair.items) == 2 else (None, None)
            )
            if isinstance(key, Const) and isinstance(key.value, str | int) and value is not None:
                found.items[key.value] = value
            else:
                found.more = of_any_key(found.more, value or Unknown())
    return found


def parsed(owner: Object, call: CallSite) -> Value:
    """What a parser parses: its options are attributes."""
    found = Object("namespace")
    found.attributes = dict(owner.attributes)
    return Items([found, Unknown()]) if call.effect.gives == "several" else found


def adds_option(owner: Object, call: CallSite) -> Value:
    """A parser gets an option: a flag, a default, or nothing where it is left out."""
    machine, given = call.machine, call.given
    names = [str(one.value.value) for one in given.listed if isinstance(one.value, Const)]
    dashed = [one for one in names if one.startswith("-")]
    if not dashed:
        return Unknown()
    said = next((one for one in dashed if one.startswith("--")), dashed[0])
    name = given.text("dest") or said.lstrip("-").replace("-", "_")
    default, action = given.named.get("default"), given.text("action") or ""
    machine.has_options = True
    flag, by_default = (
        action in ("store_true", "store_false"),
        machine.options == OptionState.DEFAULT,
    )
    machine.has_flags |= flag
    if flag and machine.options != OptionState.OPEN:
        if by_default or asks_for_gpu(name) is None:
            on = (action == "store_true") == (machine.options == OptionState.TURNED_ON)
            told = default.value if default is not None and by_default else None
            owner.attributes[name] = told if isinstance(told, Const) else Const(on)
    elif default is not None and not machine.defaults:
        owner.attributes[name] = Unknown(name)
    elif default is not None:
        owner.attributes[name] = _default(machine, default.value, name)
    elif by_default and "required" not in given.named and "action" not in given.named:
        owner.attributes[name] = Const(None)
    return Unknown()


def environment(call: CallSite) -> Value:
    """What ``os.environ.get`` and ``os.getenv`` give: of a device what the program takes by default."""
    machine, given = call.machine, call.given
    name, told = given.text("key", 0) or "", given.get("default", 1)
    if told is None or not machine.defaults:
        return Unknown(name)
    device = written(given.text("default", 1) or "")
    return told.value if device is not None or _is_another(told.value, name) else Unknown(name)


def _default(machine: Machine, value: Value, name: str) -> Value:
    """The default of an option: a device is taken for what the program is run with, all else is open."""
    told = value.value if isinstance(value, Const) else None
    if isinstance(told, str) and written(told) is not None:
        machine.has_flags |= told == "cpu"
        turned = machine.options == OptionState.TURNED_ON and told == "cpu"
        return Const("cuda") if turned else value
    if _is_another(value, name):
        return value
    plain = isinstance(
        value, Const | Items
    )  # argparse leaves a list as it is, whatever its ``type``
    if machine.options == OptionState.DEFAULT and plain:
        return value
    return Number(name) if isinstance(told, int | float) else Unknown(name)


def _is_another(value: Value, name: str) -> bool:
    """Whether a default is the number of a GPU, and not the first one, which is what anybody names."""
    told = value.value if isinstance(value, Const) else None
    return type(told) is int and bool(told) and named_so(name)


_Gives = Callable[[CallSite, list[Value]], "Value | None"]


def _first(call: CallSite, values: Sequence[Value]) -> Value | None:
    return _number(call, values[0] if values else None)


#: Functions of Python's own: how many arguments they take at least, and what they give.
_BUILTINS: dict[str, tuple[int, _Gives]] = {
    **dict.fromkeys(("len", "int", "float", "abs", "round", "id", "ord", "hash"), (0, _first)),
    **dict.fromkeys(("list", "tuple", "set", "reversed"), (0, _row)),
    **dict.fromkeys(("max", "min"), (0, _extreme)),
    "sorted": (0, _sorted),
    "isinstance": (
        2,
        lambda call, _: _told(is_instance(*(one.value for one in call.given.listed[:2]))),
    ),
    "hasattr": (0, _has),
    "divmod": (0, lambda _, values: _parted(values)),
    "range": (0, lambda _, values: _range(values)),
    "enumerate": (0, _enumerated),
    "zip": (0, _zipped),
    "iter": (1, lambda _, values: values[0]),
    "next": (1, _next),
    "map": (2, _mapped),
    "filter": (2, lambda call, values: Items([], element(call.machine.torch, values[1]))),
    "sum": (1, _sum),
    "getattr": (2, lambda call, _: _got(call)),
    "setattr": (3, _set),
    "super": (0, lambda call, _: _super(call)),
    "vars": (1, lambda call, values: call.attribute(values[0], "__dict__")),
    "type": (1, lambda _, values: type_of(values[0]) if len(values) == 1 else None),
    "str": (1, _text),
}
